# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -24		# the push has stored it at CFA-16
	push	%r12
	.cfi_def_cfa_offset 24
	.cfi_offset r12, -24
	xor	%ebx, %ebx
	lea	7(%rdi), %r12
	call	g
	add	%r12, %rax
	pop	%r12
	.cfi_def_cfa_offset 16
	.cfi_restore r12
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f
