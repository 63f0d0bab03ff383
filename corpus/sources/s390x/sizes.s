# Functions whose sizes are just below and above the limits of row starts with one and two bytes, in a NOBITS section.
	.section .sizes, "ax", @nobits
	.macro	sized name, size
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.skip	2
	.cfi_def_cfa_offset 320
	.cfi_offset r14, -48
	.skip	\size - 4
	.cfi_def_cfa_offset 160
	.cfi_restore r14
	.skip	2
	.cfi_endproc
	.size	\name, \size
	.endm

sized	bytes_6, 6
sized	bytes_254, 254
sized	bytes_256, 256
sized	bytes_258, 258
sized	bytes_65534, 65534
sized	bytes_65536, 65536
sized	bytes_65538, 65538
