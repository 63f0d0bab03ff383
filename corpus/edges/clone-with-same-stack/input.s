# `clone` without a stack, which is how C libraries fork, leaves parent and child where they were (clone(2)). With a stack, and
# `clone3`, which has it in memory, SP is not known after the call.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	forks
	.type	forks, @function
forks:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	xorl	%esi, %esi
	movl	$56, %eax
	syscall
	movl	%eax, %ebx
	movl	%ebx, %eax
	popq	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	forks, .-forks
	.globl	forgets_the_push
	.type	forgets_the_push, @function
forgets_the_push:
	.cfi_startproc
	pushq	%rbx
	xorl	%esi, %esi
	movl	$56, %eax
	syscall
	popq	%rbx
	ret
	.cfi_endproc
	.size	forgets_the_push, .-forgets_the_push
	.globl	starts_thread
	.type	starts_thread, @function
starts_thread:
	.cfi_startproc
	movq	%rdx, %rsi
	movl	$56, %eax
	syscall
	ret
	.cfi_endproc
	.size	starts_thread, .-starts_thread
	.globl	starts_thread_3
	.type	starts_thread_3, @function
starts_thread_3:
	.cfi_startproc
	xorl	%esi, %esi
	movl	$435, %eax
	syscall
	ret
	.cfi_endproc
	.size	starts_thread_3, .-starts_thread_3
