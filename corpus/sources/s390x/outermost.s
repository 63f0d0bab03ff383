# The outermost frame of a thread: no return address in the whole function, or from some instruction on.
	.text
	.globl	thread_start
	.type	thread_start, @function
thread_start:
	.cfi_startproc
	.cfi_undefined r14
	brasl	%r14, body
	j	.
	.cfi_endproc
	.size	thread_start, .-thread_start

	.globl	becomes_outermost
	.type	becomes_outermost, @function
becomes_outermost:
	.cfi_startproc
	lghi	%r14, 0
	.cfi_undefined r14
	brasl	%r14, body
	j	.
	.cfi_endproc
	.size	becomes_outermost, .-becomes_outermost

	.globl	body
	.type	body, @function
body:
	.cfi_startproc
	br	%r14
	.cfi_endproc
	.size	body, .-body
