// As in `fragment-of-two`, for AArch64.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	first
	.type	first, %function
first:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	cbz	w0, fragment
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	first, .-first
	.globl	second
	.type	second, %function
second:
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	cbz	w0, fragment
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	second, .-second
	.type	fragment, %function
fragment:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl	g
	b	fragment
	.cfi_endproc
	.size	fragment, .-fragment
