# As `kept-in-red-zone`, in a module of Linux: an interrupt may overwrite the slot, so that the row at the `ret` is wrong.
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
	.section .modinfo,"a",@progbits
	.asciz	"license=GPL"
