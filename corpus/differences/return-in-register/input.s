# The return address is in a register: ignored.
#
# Machine: x86_64
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# Version 2 has no place for that, and the function should have been left out; SFrame says CFA - 8.
# After the `movq` that place, below SP, holds 0; the return address is in R11 and nowhere else. CFI is right.
# 2.40 leaves the function out; SFrame 3 can say it, and 2.47.50 does.
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
