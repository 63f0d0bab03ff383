# The outermost frame of a thread: no return address in the whole function, or from some instruction on.
	.text
	.globl	thread_start
	.type	thread_start, @function
thread_start:
	.cfi_startproc
	.cfi_undefined rip
	xor	%ebp, %ebp
	call	body@PLT
	hlt
	.cfi_endproc
	.size	thread_start, .-thread_start

	.globl	becomes_outermost
	.type	becomes_outermost, @function
becomes_outermost:
	.cfi_startproc
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_undefined rip
	call	body@PLT
	hlt
	.cfi_endproc
	.size	becomes_outermost, .-becomes_outermost

	.globl	body
	.type	body, @function
body:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	body, .-body
