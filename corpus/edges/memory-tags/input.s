// FEAT_MTE: instructions that store tags move SP in granules of 16 bytes. In `not_declared`, CFI lacks the last of them.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.arch	armv8.5-a+memtag
	.text
	.globl	tagged, pair, not_declared
	.type	tagged, %function
tagged:
	.cfi_startproc
	stg	sp, [sp, -16]!
	.cfi_def_cfa_offset 16
	stz2g	sp, [sp, -32]!
	.cfi_def_cfa_offset 48
	subg	sp, sp, 1008, 0
	.cfi_def_cfa_offset 1056
	irg	x0, sp
	addg	x1, x0, 16, 1
	stg	x1, [x1]
	stzg	x0, [x1, 16]
	ldg	x0, [x1]
	addg	sp, sp, 1008, 0
	.cfi_def_cfa_offset 48
	st2g	sp, [sp], 32
	.cfi_def_cfa_offset 16
	stzg	sp, [sp], 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	tagged, .-tagged
	.type	pair, %function
pair:
	.cfi_startproc
	stgp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	bl	g
	stgp	xzr, xzr, [sp, 16]
	ldp	x29, x30, [sp]
	.cfi_restore x29
	.cfi_restore x30
	stgp	xzr, xzr, [sp], 32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	pair, .-pair
	.type	not_declared, %function
not_declared:
	.cfi_startproc
	sub	sp, sp, 32
	.cfi_def_cfa_offset 32
	nop
	st2g	sp, [sp], 32
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
