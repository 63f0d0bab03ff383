# Two functions jump to one fragment with different frames. Its CFI is that of the first, and nothing is true of both.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	first
	.type	first, @function
first:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	testl	%edi, %edi
	je	fragment
	popq	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	first, .-first
	.globl	second
	.type	second, @function
second:
	.cfi_startproc
	subq	$40, %rsp
	.cfi_def_cfa_offset 48
	testl	%edi, %edi
	je	fragment
	addq	$40, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	second, .-second
	.type	fragment, @function
fragment:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	call	g
	jmp	fragment
	.cfi_endproc
	.size	fragment, .-fragment
