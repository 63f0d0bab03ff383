// As in `without-entry`, for AArch64.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	cleanse, user
	.type	cleanse, %function
cleanse:
	cbz	x1, 1f
	strb	wzr, [x0], 1
	sub	x1, x1, 1
	b	cleanse
1:	ret
	.size	cleanse, .-cleanse
	.type	user, %function
user:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl	cleanse
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	user, .-user
	.globl	bare
bare:
	mov	w0, 1
	ret
	.p2align 4
	.type	last, %function
last:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	last, .-last
