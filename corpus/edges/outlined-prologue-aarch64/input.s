// LLVM's outliner makes a function of a part of several prologues: it stores a register of its caller, and sets the frame pointer. The
// rows of `framed` are right. `wrong` has the rows alone: what it calls keeps the frame pointer.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
	.text
	.globl	framed, wrong
	.type	framed, %function
framed:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	bl	OUTLINED_FUNCTION_0
	.cfi_def_cfa 29, 32
	bl	g
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	framed, .-framed
	.type	wrong, %function
wrong:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	bl	keeps
	.cfi_def_cfa 29, 32
	bl	g
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	wrong, .-wrong
	.type	OUTLINED_FUNCTION_0, %function
OUTLINED_FUNCTION_0:
	str	x19, [sp, #16]
	mov	x29, sp
	ret
	.size	OUTLINED_FUNCTION_0, .-OUTLINED_FUNCTION_0
	.type	keeps, %function
keeps:
	str	x29, [sp, #-16]!
	mov	x29, sp
	ldr	x29, [sp], #16
	ret
	.size	keeps, .-keeps
