# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$168, %rsp
	.cfi_def_cfa_offset 176
	mov	%r15, 24(%rsp)
	.cfi_offset r15, -152
	mov	%rbx, 160(%rsp)
	.cfi_offset rbx, -16
	mov	%rdi, %r15
	mov	%rdi, %rbx
	call	g
	add	%r15, %rax
	mov	24(%rsp), %r15
	mov	160(%rsp), %rbx
	add	$168, %rsp
	.cfi_def_cfa_offset 8		# R15 is more than 128 bytes below RSP now, RBX is not
	nop
	ret
	.cfi_endproc
	.size	f, .-f
