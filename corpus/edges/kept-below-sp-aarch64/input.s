// The rules of X29 and X30 still name their slots after the `ldp`. AArch64 has no red zone, so that the row at the `ret` is wrong.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	bl	g
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
