// As in `clone-with-same-stack`, for AArch64.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	forks
	.type	forks, %function
forks:
	.cfi_startproc
	str	x19, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x19, -16
	mov	x1, 0
	mov	x8, 220
	svc	0
	mov	w19, w0
	ldr	x19, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	ret
	.cfi_endproc
	.size	forks, .-forks
	.globl	forgets_the_push
	.type	forgets_the_push, %function
forgets_the_push:
	.cfi_startproc
	str	x19, [sp, -16]!
	mov	x1, 0
	mov	x8, 220
	svc	0
	ldr	x19, [sp], 16
	ret
	.cfi_endproc
	.size	forgets_the_push, .-forgets_the_push
	.globl	starts_thread
	.type	starts_thread, %function
starts_thread:
	.cfi_startproc
	mov	x1, x2
	mov	x8, 220
	svc	0
	ret
	.cfi_endproc
	.size	starts_thread, .-starts_thread
	.globl	starts_thread_3
	.type	starts_thread_3, %function
starts_thread_3:
	.cfi_startproc
	mov	x1, 0
	mov	x8, 435
	svc	0
	ret
	.cfi_endproc
	.size	starts_thread_3, .-starts_thread_3
