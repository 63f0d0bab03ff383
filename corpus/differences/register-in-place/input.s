# A new offset and a new register of the CFA at the same PC: the offset is lost.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
#
# `def_cfa_register` uses the offset of the last complete row, the one before the push: SFrame says FP + 8.
# At the pop, FP equals SP, and the caller's FP and the return address are between it and the CFA: FP + 16. CFI and LLVM 23 are right.
# Every GNU as is wrong, on every machine. With `.cfi_def_cfa rbp, 16` instead of the two directives, it would be right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	mov	%rsp, %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_def_cfa_register rbp
	pop	%rbp			# FP is SP, 8 below what it was at f
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
