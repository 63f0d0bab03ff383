// Functions that only calls name: the program has neither symbols nor CFI.
//
// Machine: aarch64
// File: linked.exe   2.47.50  ld -s input.o
	.text
	.globl	_start
_start:
	bl	.Lfirst
	mov	x8, #93
	svc	#0
.Lfirst:
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	bl	.Lsecond
	ldp	x29, x30, [sp], #32
	ret
.Lsecond:
	sub	sp, sp, #16
	str	x30, [sp, #8]
	bl	.Lthird
	ldr	x30, [sp, #8]
	add	sp, sp, #16
	ret
.Lthird:
	ret
