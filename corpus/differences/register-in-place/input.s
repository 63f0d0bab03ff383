# A new offset and a new register of the CFA at one place: the offset is forgotten.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
#
# `def_cfa_register` takes the offset from the last row that was finished, the one before the push: SFrame says FP + 8.
# At the pop FP is SP, and the caller's FP and the return address lie between it and the CFA: FP + 16. CFI is right, and so is LLVM 23.
# No GNU as is, on any machine. `.cfi_def_cfa rbp, 16` in place of the two would have been heard.
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
