// Functions whose sizes are just below and above the limits of row starts with one and two bytes, in a NOBITS section.
	.section .sizes, "ax", %nobits
	.macro	sized name, size
	.globl	\name
	.type	\name, %function
\name:
	.cfi_startproc
	.skip	4
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	.skip	\size - 8
	.cfi_def_cfa_offset 0
	.cfi_restore x30
	.skip	4
	.cfi_endproc
	.size	\name, \size
	.endm

sized	bytes_12, 12
sized	bytes_252, 252
sized	bytes_256, 256
sized	bytes_260, 260
sized	bytes_65532, 65532
sized	bytes_65536, 65536
sized	bytes_65540, 65540
