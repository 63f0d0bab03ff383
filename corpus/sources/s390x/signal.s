# Signal frames: one with plain rules, and one whose CFA is an expression.
	.text
	.globl	restorer
	.type	restorer, @function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa_offset 320
	.cfi_offset r11, -72
	.cfi_offset r14, -48
	svc	119
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	restorer_by_expression
	.type	restorer_by_expression, @function
restorer_by_expression:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x05, 0x7f, 0xa0, 0x01, 0x06, 0x06	# DW_CFA_def_cfa_expression with two dereferences
	svc	119
	.cfi_endproc
	.size	restorer_by_expression, .-restorer_by_expression

	.globl	ordinary
	.type	ordinary, @function
ordinary:
	.cfi_startproc
	br	%r14
	.cfi_endproc
	.size	ordinary, .-ordinary
