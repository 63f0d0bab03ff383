// FEAT_SVE: `addvl` and `addpl` move SP by lengths of vectors and predicates, of which only the processor knows how many bytes they
// have. In `not_declared`, the CFA is wrong for each length; in `for_shortest`, it is right for vectors of 16 bytes.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.arch	armv8.2-a+sve
	.text
	.globl	by_frame_pointer, by_expression, not_declared, for_shortest
	.type	by_frame_pointer, %function
by_frame_pointer:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	addvl	sp, sp, #-2
	addpl	sp, sp, #-8
	str	z8, [sp]
	str	p4, [sp, #8, mul vl]
	bl	g
	ldr	z8, [sp]
	addvl	sp, sp, #3
	.cfi_def_cfa sp, 16
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	by_frame_pointer, .-by_frame_pointer
	.type	by_expression, %function
by_expression:
	.cfi_startproc
	addvl	sp, sp, #-1
	// DW_CFA_def_cfa_expression: SP + 8 * VG
	.cfi_escape 0x0f, 0x07, 0x8f, 0x00, 0x92, 0x2e, 0x00, 0x38, 0x1e
	nop
	addvl	sp, sp, #1
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
	.size	by_expression, .-by_expression
	.type	not_declared, %function
not_declared:
	.cfi_startproc
	addvl	sp, sp, #-1
	nop
	addvl	sp, sp, #1
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
	.type	for_shortest, %function
for_shortest:
	.cfi_startproc
	addvl	sp, sp, #-1
	.cfi_def_cfa_offset 16
	nop
	addvl	sp, sp, #1
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	for_shortest, .-for_shortest
