// As for AMD64: the number of `rt_sigreturn` is 139, and x30 has the address of this code.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	as_function
	.type	as_function, %function
as_function:
	.cfi_startproc
	mov	x8, 139
	svc	0
	.cfi_endproc
	.size	as_function, .-as_function
