// As in `fall-into-next`, for AArch64.
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
	bl	g
	mov	w1, w0
	.cfi_endproc
	.size	first, .-first
.Lrest_of_first:
	.cfi_startproc
	bl	g
	ldp	x29, x30, [sp], 16
	ret
	.cfi_endproc
	.globl	second
	.type	second, %function
second:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_endproc
	.size	second, .-second
.Lrest_of_second:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl	g
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.globl	caller
	.type	caller, %function
caller:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl	helper
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	caller, .-caller
	.type	helper, %function
helper:
	.cfi_startproc
	mov	x1, 1
	.cfi_endproc
	.size	helper, .-helper
	.type	rest_of_helper, %function
rest_of_helper:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size	rest_of_helper, .-rest_of_helper
