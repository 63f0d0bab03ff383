# As in outlined-prologue-aarch64: a function that sets its caller's frame pointer, and one that keeps it.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	framed, wrong
	.type	framed, @function
framed:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	call	OUTLINED_FUNCTION_0
	.cfi_def_cfa_register %rbp
	call	g
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	framed, .-framed
	.type	wrong, @function
wrong:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	call	keeps
	.cfi_def_cfa_register %rbp
	call	g
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	wrong, .-wrong
	.type	OUTLINED_FUNCTION_0, @function
OUTLINED_FUNCTION_0:
	lea	8(%rsp), %rbp
	ret
	.size	OUTLINED_FUNCTION_0, .-OUTLINED_FUNCTION_0
	.type	keeps, @function
keeps:
	push	%rbp
	mov	%rsp, %rbp
	pop	%rbp
	ret
	.size	keeps, .-keeps
