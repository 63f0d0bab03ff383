// Machine: aarch64
// File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	d8, d9, [sp, -48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 72, -48
	.cfi_offset 73, -32		// D9 is 8 bytes above D8
	stp	d10, d11, [sp, 16]
	.cfi_offset 74, -32		// none for D11
	str	x30, [sp, 32]
	.cfi_offset x30, -16
	fmov	d8, 1.0
	fmov	d9, 2.0
	fadd	d10, d8, d9
	fadd	d11, d10, d9
	bl	g
	ldr	x30, [sp, 32]
	.cfi_restore x30
	ldp	d10, d11, [sp, 16]
	ldp	d8, d9, [sp], 48
	.cfi_def_cfa_offset 0
	.cfi_restore 72
	.cfi_restore 73
	.cfi_restore 74
	ret
	.cfi_endproc
	.size	f, .-f
