// Machine: aarch64
// File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	stp	x19, x20, [sp, 16]
	.cfi_offset x19, -8		// each is in the other's slot
	.cfi_offset x20, -16
	mov	x19, x0
	mov	x20, x1
	bl	g
	add	x0, x19, x20
	ldp	x19, x20, [sp, 16]
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	f, .-f
