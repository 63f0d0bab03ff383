// Hand-written routines save D8 to D15 with `st1`, and move SP with `ld1`. `ordered` moves SP with the instructions of FEAT_LRCPC3,
// `authenticated` with one of FEAT_PAuth. In `not_declared`, CFI lacks what `ld1` does.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.arch	armv8.9-a+rcpc3
	.text
	.globl	vectors, ordered, authenticated, not_declared
	.type	vectors, %function
vectors:
	.cfi_startproc
	sub	sp, sp, 80
	.cfi_def_cfa_offset 80
	st1	{v8.8b-v11.8b}, [sp]
	.cfi_offset 72, -80
	.cfi_offset 73, -72
	.cfi_offset 74, -64
	.cfi_offset 75, -56
	movi	v8.16b, 0
	movi	v9.16b, 0
	movi	v10.16b, 0
	movi	v11.16b, 0
	ld1	{v8.8b-v11.8b}, [sp], 32
	.cfi_restore 72
	.cfi_restore 73
	.cfi_restore 74
	.cfi_restore 75
	.cfi_def_cfa_offset 48
	ld3	{v0.16b-v2.16b}, [sp], 48
	.cfi_def_cfa_offset 0
	sub	sp, sp, 32
	.cfi_def_cfa_offset 32
	st1	{v0.d}[1], [sp], 8
	.cfi_def_cfa_offset 24
	st4	{v0.h-v3.h}[1], [sp], 8
	.cfi_def_cfa_offset 16
	ld2r	{v0.4s-v1.4s}, [sp], 8
	.cfi_def_cfa_offset 8
	ld1	{v0.8b}, [sp], 8
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	vectors, .-vectors
	.type	ordered, %function
ordered:
	.cfi_startproc
	stilp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	stlr	x0, [sp, -8]!
	.cfi_def_cfa_offset 24
	stlr	w0, [sp, -4]!
	.cfi_def_cfa_offset 28
	bl	g
	ldapr	w0, [sp], 4
	.cfi_def_cfa_offset 24
	ldumax	x0, x1, [sp]
	ldapr	x0, [sp], 8
	.cfi_def_cfa_offset 16
	ldiapp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	ordered, .-ordered
	.type	authenticated, %function
authenticated:
	.cfi_startproc
	sub	sp, sp, 16
	.cfi_def_cfa_offset 16
	ldraa	x0, [sp, -16]!
	.cfi_def_cfa_offset 32
	add	sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	authenticated, .-authenticated
	.type	not_declared, %function
not_declared:
	.cfi_startproc
	sub	sp, sp, 64
	.cfi_def_cfa_offset 64
	nop
	ld1	{v0.2d-v3.2d}, [sp], 64
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
