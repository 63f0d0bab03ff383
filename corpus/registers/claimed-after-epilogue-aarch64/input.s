// Machine: aarch64
// File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x22, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x22, -16
	.cfi_offset x30, -8
	mov	x22, x0
	bl	g
	add	x0, x0, x22
	ldp	x22, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x30		// nothing protects the slot of X22
	nop
	ret
	.cfi_endproc
	.size	f, .-f
