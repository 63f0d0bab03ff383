// As for AMD64.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.text
	.globl	exits
	.type	exits, %function
exits:
	.cfi_startproc
	sub	sp, sp, 16
	.cfi_def_cfa_offset 16
	cbnz	x0, 1f
	mov	x8, 93
	svc	0
	.cfi_def_cfa_offset 0
	nop
1:	.cfi_def_cfa_offset 16
	mov	w8, 94
	svc	0
	.cfi_def_cfa_offset 0
	nop
	.cfi_endproc
	.size	exits, .-exits
