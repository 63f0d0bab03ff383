# Signal frames: one with plain rules, and one whose CFA is an expression.
	.text
	.globl	restorer
	.type	restorer, @function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa rsp, 168
	.cfi_offset rbp, -48
	mov	$15, %eax
	syscall
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	restorer_by_expression
	.type	restorer_by_expression, @function
restorer_by_expression:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06	# DW_CFA_def_cfa_expression: *(rsp + 160)
	mov	$15, %eax
	syscall
	.cfi_endproc
	.size	restorer_by_expression, .-restorer_by_expression

	.globl	ordinary
	.type	ordinary, @function
ordinary:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	ordinary, .-ordinary
