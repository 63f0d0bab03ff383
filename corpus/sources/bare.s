/* No CFI at all: the assembler emits no section. */
	.text
	.globl	bare
bare:
	.long	0, 0
