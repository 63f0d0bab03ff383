# Offsets just below and above the limits of one and two bytes, mixed in one function.
	.text
	.globl	growing
	.type	growing, @function
growing:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	sub	$112, %rsp
	.cfi_def_cfa_offset 127
	nop
	.cfi_def_cfa_offset 128
	nop
	.cfi_def_cfa_offset 32767
	nop
	.cfi_def_cfa_offset 32768
	nop
	.cfi_def_cfa_offset 2147483647
	nop
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	growing, .-growing

	.globl	far_frame_pointer
	.type	far_frame_pointer, @function
far_frame_pointer:
	.cfi_startproc
	nop
	.cfi_offset rbp, -128
	nop
	.cfi_offset rbp, -136
	nop
	.cfi_offset rbp, -32768
	nop
	.cfi_offset rbp, -32776
	ret
	.cfi_endproc
	.size	far_frame_pointer, .-far_frame_pointer
