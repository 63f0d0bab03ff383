# Parts of functions that only jumps enter, with the frame that RBP addresses. The part of `first` has freed the frame before it
# returns, and its row still counts from RBP. Two functions with frames of different sizes share the other part.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	first
	.type	first, @function
first:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	$16, %rsp
	test	%edi, %edi
	jne	.Lpart
	test	%esi, %esi
	jne	.Lshared
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	first, .-first
	.globl	second
	.type	second, @function
second:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	$48, %rsp
	test	%edi, %edi
	jne	.Lshared
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	second, .-second
	.section .text.unlikely, "ax", @progbits
.Lpart:
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	call	g
	leave
	ret
	.cfi_endproc
.Lshared:
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	call	g
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
