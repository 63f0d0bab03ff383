# FP is undefined, and unchanged again at the same PC: the whole function is lost.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# "FP reg 6 in .cfi_undefined". The rule applies to no PC, and SFrame can express all rows.
# (2.44 does the same for an FP that is moved to another register and saved at the same PC; on AArch64, for one that is saved without RA. Found
# by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	nop
	.cfi_undefined rbp
	.cfi_same_value rbp
	ret
	.cfi_endproc
	.size	f, .-f
