# The return address is in a register, which SFrame ignores.
#
# Machine: x86_64
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# Version 2 cannot express this. The function should have been left out, but SFrame says CFA - 8.
# After the `movq`, that slot, below SP, has 0, and the return address is only in R11. CFI is right.
# 2.40 leaves the function out. SFrame 3 can express it, and 2.47.50 does.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pop	%r11
	.cfi_def_cfa_offset 0
	.cfi_register rip, r11
	movq	$0, -8(%rsp)
	push	%r11			# R11 is the return address, 0 is below SP
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
	.size	f, .-f
