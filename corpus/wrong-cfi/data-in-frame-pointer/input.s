# FP is used for data, without a directive.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# `.cfi_def_cfa_offset` describes the push, but no `.cfi_offset` says where the caller's FP is.
# After the `mov`, FP is the function's argument, and the caller's FP is in the slot that the push has written, at CFA - 16.
# CFI says that FP is unchanged, and SFrame says the same. CFA and the return address are right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	mov	%rdi, %rbp
	add	%rsi, %rbp
	mov	%rbp, %rax
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
