# Machine: x86_64
# File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	%rbx, %r10
	.cfi_register rbx, r10
	mov	%r12, %r11
	.cfi_register r12, r10		# it is in R11
	lea	1(%rdi), %rbx
	lea	2(%rdi), %r12
	lea	(%rbx,%r12), %rax
	mov	%r11, %r12
	.cfi_restore r12
	mov	%r10, %rbx
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f
