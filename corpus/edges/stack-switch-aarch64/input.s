// As in `stack-switch`, for AArch64.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	by_frame_pointer, not_declared, swap
	.type	by_frame_pointer, %function
by_frame_pointer:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	mov	sp, x1
	blr	x0
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	by_frame_pointer, .-by_frame_pointer
	.type	not_declared, %function
not_declared:
	.cfi_startproc
	stp	x19, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x19, -16
	.cfi_offset x30, -8
	mov	x19, sp
	mov	sp, x1
	blr	x0
	mov	sp, x19
	ldp	x19, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
	.type	swap, %function
swap:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x2, sp
	str	x2, [x0]
	mov	sp, x1
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	swap, .-swap
