// Frames whose CFA is in a register that inner functions have saved and overwritten.
	.text
	.globl	by_x19
	.type	by_x19, %function
by_x19:
	.cfi_startproc
	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	stp	x19, x20, [sp, #16]
	.cfi_offset 19, -32
	.cfi_offset 20, -24
	mov	x19, sp
	.cfi_def_cfa_register 19
	mov	x20, sp
	sub	sp, sp, #64
	mov	x29, #0x55
	bl	in_registers
	mov	sp, x19
	.cfi_def_cfa_register 31
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	.cfi_restore 19
	.cfi_restore 20
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	by_x19, .-by_x19

// x19 goes to x21, and x20 to where an expression says: at x20 in this frame, minus 8. x21 itself is on the stack.
	.type	in_registers, %function
in_registers:
	.cfi_startproc
	stp	x30, x21, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	.cfi_offset 21, -24
	mov	x21, x19
	.cfi_register 19, 21
	str	x20, [sp, #16]
	add	x20, sp, #24
	// DW_CFA_expression: DW_OP_breg20 0, DW_OP_lit8, DW_OP_minus
	.cfi_escape 0x10, 20, 4, 0x84, 0, 0x38, 0x1c
	mov	x19, #1
	bl	by_expression
	ldr	x20, [sp, #16]
	.cfi_restore 20
	mov	x19, x21
	.cfi_restore 19
	ldp	x30, x21, [sp], #32
	.cfi_restore 30
	.cfi_restore 21
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	in_registers, .-in_registers

	.type	by_expression, %function
by_expression:
	.cfi_startproc
	stp	x30, x20, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	.cfi_offset 20, -24
	str	x21, [sp, #16]
	.cfi_offset 21, -16
	add	x20, sp, #32
	// DW_CFA_def_cfa_expression: DW_OP_breg20 16, DW_OP_lit16, DW_OP_minus
	.cfi_escape 0x0f, 4, 0x84, 16, 0x40, 0x1c
	mov	x21, #3
	bl	saves_all
	.cfi_def_cfa 31, 32
	ldr	x21, [sp, #16]
	ldp	x30, x20, [sp], #32
	.cfi_restore 30
	.cfi_restore 20
	.cfi_restore 21
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	by_expression, .-by_expression

	.type	saves_all, %function
saves_all:
	.cfi_startproc
	stp	x30, x20, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	.cfi_offset 20, -8
	mov	x20, #4
	mov	x0, #0
	bl	in_leaf
	ldp	x30, x20, [sp], #16
	.cfi_restore 30
	.cfi_restore 20
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	saves_all, .-saves_all
