// The outermost frame of a thread: no return address in the whole function, or from some instruction on.
	.text
	.globl	thread_start
	.type	thread_start, %function
thread_start:
	.cfi_startproc
	.cfi_undefined x30
	mov	x29, #0
	bl	body
	brk	#1
	.cfi_endproc
	.size	thread_start, .-thread_start

	.globl	becomes_outermost
	.type	becomes_outermost, %function
becomes_outermost:
	.cfi_startproc
	mov	x30, #0
	.cfi_undefined x30
	bl	body
	brk	#1
	.cfi_endproc
	.size	becomes_outermost, .-becomes_outermost

	.globl	body
	.type	body, %function
body:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	body, .-body
