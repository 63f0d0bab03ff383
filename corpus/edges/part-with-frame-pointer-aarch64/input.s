// Parts of functions that only jumps enter, with the frame that X29 addresses, as for AMD64.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
	.text
	.globl	first
	.type	first, %function
first:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	.cfi_def_cfa_register x29
	cbnz	w0, .Lpart
	cbnz	w1, .Lshared
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	first, .-first
	.globl	second
	.type	second, %function
second:
	.cfi_startproc
	sub	sp, sp, #64
	.cfi_def_cfa_offset 64
	stp	x29, x30, [sp, #32]
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	add	x29, sp, #32
	.cfi_def_cfa x29, 32
	cbnz	w0, .Lshared
	ldp	x29, x30, [sp, #32]
	.cfi_def_cfa sp, 64
	.cfi_restore x29
	.cfi_restore x30
	add	sp, sp, #64
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	second, .-second
	.section .text.unlikely, "ax", %progbits
.Lpart:
	.cfi_startproc
	.cfi_def_cfa x29, 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	bl	g
	ldp	x29, x30, [sp], #32
	ret
	.cfi_endproc
.Lshared:
	.cfi_startproc
	.cfi_def_cfa x29, 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	bl	g
	mov	sp, x29
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
