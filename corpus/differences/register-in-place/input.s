# A new offset and a new register of the CFA at one place: the offset is forgotten.
#
# Machine: x86_64
# File: 2.40.o  2.40
# File: 2.44.o  2.44
#
# `def_cfa_register` takes the offset from the last row that was finished: SFrame says FP + 16.
# At the pop two pushes lie between FP and the CFA, besides the return address: FP + 24. CFI is right. 2.47.50 and LLVM 23 are too.
# Without the first push there is no finished row, and both assemblers end with a segmentation fault.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	push	%rbp
	mov	%rsp, %rbp
	.cfi_def_cfa_offset 24
	.cfi_offset rbp, -24
	.cfi_def_cfa_register rbp
	pop	%rbp			# FP is SP, 16 below what SP was at f
	.cfi_def_cfa rsp, 16
	.cfi_restore rbp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f
