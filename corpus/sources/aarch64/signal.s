// Signal frames: one with plain rules, and one whose CFA is an expression.
	.text
	.globl	restorer
	.type	restorer, %function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa x29, 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x8, #139
	svc	#0
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	restorer_by_expression
	.type	restorer_by_expression, %function
restorer_by_expression:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x8f, 0xa0, 0x01, 0x06	// DW_CFA_def_cfa_expression: *(sp + 160)
	mov	x8, #139
	svc	#0
	.cfi_endproc
	.size	restorer_by_expression, .-restorer_by_expression

	.globl	ordinary
	.type	ordinary, %function
ordinary:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	ordinary, .-ordinary
