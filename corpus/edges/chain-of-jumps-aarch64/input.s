// A chain of functions that are one jump each and have no names. The last one has the frame of a call; its row after the store is wrong.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
	.text
.Llast:
	.cfi_startproc
	str	x19, [sp, #-16]!
	nop
	ldr	x19, [sp], #16
	ret
	.cfi_endproc
.Lthird:
	.cfi_startproc
	b	.Llast
	.cfi_endproc
.Lsecond:
	.cfi_startproc
	b	.Lthird
	.cfi_endproc
	.globl	first
	.type	first, %function
first:
	.cfi_startproc
	b	.Lsecond
	.cfi_endproc
	.size	first, .-first
