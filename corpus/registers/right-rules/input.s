# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	push	%r12
	push	%rbx			# LLVM writes directives after all pushes
	.cfi_offset rbx, -32
	.cfi_offset r12, -24
	mov	%rdi, %r12
	xor	%ebx, %ebx
1:
	call	g
	add	$1, %rbx
	cmp	$3, %rbx
	jb	1b
	cmp	%rdi, %rsi
	jne	2f
	.cfi_remember_state
	pop	%rbx			# and none in epilogues: the slots are in the red zone
	pop	%r12
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
2:
	.cfi_restore_state
	lea	-16(%rbp), %rsp
	pop	%rbx
	pop	%r12
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	f, .-f
