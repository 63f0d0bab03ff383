// Offsets just below and above the limits of one and two bytes, mixed in one function.
	.text
	.globl	growing
	.type	growing, %function
growing:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
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
	.cfi_offset x30, -32776
	nop
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -8
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	growing, .-growing
