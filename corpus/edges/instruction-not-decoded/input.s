// An instruction that is not defined. What is known before it is known at it, and nothing after it.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	f, at_start
	.type	f, %function
f:
	.cfi_startproc
	sub	sp, sp, 16
	.cfi_def_cfa_offset 16
	.inst	0x02000000
	add	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
	.type	at_start, %function
at_start:
	.cfi_startproc
	.inst	0x02000000
	ret
	.cfi_endproc
	.size	at_start, .-at_start
