// FP and the return address are stored, without directives.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// The `stp` moves SP down by 32 bytes, and writes FP to CFA - 32 and the return address to CFA - 24.
// CFI says that the CFA is SP and that both registers are unchanged. SFrame says the same. After the `bl`, x30 is not the return address.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	mov	x29, sp
	str	x0, [sp, 16]
	bl	g
	ldr	x0, [sp, 16]
	ldp	x29, x30, [sp], 32
	ret
	.cfi_endproc
	.size	f, .-f
