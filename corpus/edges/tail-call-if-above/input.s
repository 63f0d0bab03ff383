# A tail call by a conditional jump. `slow` has the frame of a call; its row after the push is wrong.
#
# Machine: x86_64
# File: 2.47.50.o   2.47.50
	.text
	.type	slow, @function
slow:
	.cfi_startproc
	push	%rbx
	nop
	pop	%rbx
	ret
	.cfi_endproc
	.size	slow, .-slow
	.globl	fast
	.type	fast, @function
fast:
	.cfi_startproc
	cmp	$15, %rdi
	ja	slow
	ret
	.cfi_endproc
	.size	fast, .-fast
