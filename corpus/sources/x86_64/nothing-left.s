# No function has CFI that SFrame 1 or 2 can express, so the section has only a header.
	.text
	.globl	beyond
	.type	beyond, @function
beyond:
	.cfi_startproc
	.cfi_escape 0x0f, 0x05, 0x77, 0xa0, 0x01, 0x06, 0x06	# DW_CFA_def_cfa_expression with two dereferences
	nop
	ret
	.cfi_endproc
	.size	beyond, .-beyond
