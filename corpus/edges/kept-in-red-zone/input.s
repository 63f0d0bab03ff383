# RBP's rule still names its slot after the pop. In a program, 8 bytes below RSP, nothing else writes there: the row at the `ret` is right.
#
# Machine: x86_64
# File: 2.47.50.o   2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	call	g
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
