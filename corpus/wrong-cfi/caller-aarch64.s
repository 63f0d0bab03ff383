// Calls the `f` of each input, twice as for the other machine.
	.text
	.globl	_start, g
_start:
	mov	x29, 0x1111
	mov	x19, 0x2222
	.irp	number, 20, 21, 22, 23, 24, 25, 26, 27, 28
	mov	x\number, 0x2000 + \number
	.endr
	.irp	number, 8, 9, 10, 11, 12, 13, 14, 15
	mov	x0, 0xd000 + \number
	fmov	d\number, x0
	.endr
	mov	x0, 0x4444
	mov	x1, 0x4444
	bl	f
	mov	x0, 0x5555
	mov	x1, 0x6666
	bl	f
	mov	x8, 93			// exit
	mov	x0, 0
	svc	0
g:
	mov	x0, 0x7777
	ret
