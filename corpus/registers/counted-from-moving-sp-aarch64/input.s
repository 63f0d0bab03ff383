// Machine: aarch64
// File: 2.47.50.o 2.47.50
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x19, x20, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_escape 0x10, 19, 2, 0x8f, 0	// DW_CFA_expression x19: sp+0, which the next instruction changes
	.cfi_escape 0x10, 20, 2, 0x8f, 8
	stp	x23, x24, [sp, -16]!
	.cfi_def_cfa_offset 32
	.cfi_escape 0x10, 23, 2, 0x8f, 0
	.cfi_escape 0x10, 24, 2, 0x8f, 8
	mov	x19, x0
	mov	x20, x0
	mov	x23, x1
	mov	x24, x1
	add	x0, x19, x23
	ldp	x23, x24, [sp], 16
	.cfi_def_cfa_offset 16
	.cfi_restore x23
	.cfi_restore x24
	ldp	x19, x20, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	ret
	.cfi_endproc
	.size	f, .-f
