// Machine: aarch64
// File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x21, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -8		// none for X21
	add	x21, x0, 1
	bl	g
	add	x0, x0, x21
	ldp	x21, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	f, .-f
