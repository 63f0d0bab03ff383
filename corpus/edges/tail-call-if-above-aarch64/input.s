// A tail call by a conditional jump. `slow` has the frame of a call; its row after the store is wrong.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
	.text
	.type	slow, %function
slow:
	.cfi_startproc
	str	x19, [sp, #-16]!
	nop
	ldr	x19, [sp], #16
	ret
	.cfi_endproc
	.size	slow, .-slow
	.globl	fast
	.type	fast, %function
fast:
	.cfi_startproc
	cmp	x0, #15
	b.hi	slow
	ret
	.cfi_endproc
	.size	fast, .-fast
