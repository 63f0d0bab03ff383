# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%r14
	.cfi_def_cfa_offset 16
	.cfi_offset r14, -16
	mov	%rdi, %r14
	.cfi_restore r14		# its value is still on the stack
	call	g
	add	%r14, %rax
	pop	%r14
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
