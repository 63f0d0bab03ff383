# FP is lost, and unchanged again at the same place: the whole function is lost.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# "FP reg 6 in .cfi_undefined". The rule holds at no PC, and there is no row that SFrame could not say.
# (2.44 does the same of an FP that is kept in another register and saved at the same place; on AArch64 of one that is saved alone. Found by
# `assemblers` in `fuzz/`.)
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
