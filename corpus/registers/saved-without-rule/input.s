# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%r13			# no directive says that it is saved
	.cfi_def_cfa_offset 16
	push	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset rbx, -24
	mov	%rdi, %r13
	mov	%rsi, %rbx
	cmp	%rsi, %rdi
	je	1f
	call	g
1:
	add	%rbx, %r13
	pop	%rbx
	.cfi_def_cfa_offset 16
	.cfi_restore rbx
	pop	%r13
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
