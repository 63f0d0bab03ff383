# Functions whose sizes are just below and above the limits of row starts with one and two bytes, in a NOBITS section.
	.section .sizes, "ax", @nobits
	.macro	sized name, size
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.skip	1
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.skip	\size - 2
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	.skip	1
	.cfi_endproc
	.size	\name, \size
	.endm

sized	bytes_3, 3
sized	bytes_255, 255
sized	bytes_256, 256
sized	bytes_257, 257
sized	bytes_65535, 65535
sized	bytes_65536, 65536
sized	bytes_65537, 65537
