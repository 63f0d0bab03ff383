# Offsets just below and above the limits of one and two bytes, which are multiplied by eight on this machine.
	.text
	.globl	growing
	.type	growing, @function
growing:
	.cfi_startproc
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset r11, -72
	.cfi_offset r14, -48
	.cfi_def_cfa_offset 1176
	nopr
	.cfi_def_cfa_offset 1184
	nopr
	.cfi_def_cfa_offset 262296
	nopr
	.cfi_def_cfa_offset 262304
	nopr
	.cfi_offset r11, -136
	nopr
	.cfi_offset r14, -32776
	nopr
	.cfi_def_cfa_offset 160
	.cfi_restore r11
	.cfi_restore r14
	br	%r14
	.cfi_endproc
	.size	growing, .-growing
