# A chain of functions that are one jump each and have no names. The last one has the frame of a call; its row after the push is wrong.
#
# Machine: x86_64
# File: 2.47.50.o   2.47.50
	.text
.Llast:
	.cfi_startproc
	push	%rbx
	nop
	pop	%rbx
	ret
	.cfi_endproc
.Lthird:
	.cfi_startproc
	jmp	.Llast
	.cfi_endproc
.Lsecond:
	.cfi_startproc
	jmp	.Lthird
	.cfi_endproc
	.globl	first
	.type	first, @function
first:
	.cfi_startproc
	jmp	.Lsecond
	.cfi_endproc
	.size	first, .-first
