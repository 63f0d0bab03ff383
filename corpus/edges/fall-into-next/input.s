# Control goes on from the end of one function to the start of the next. `rest_of_first` and `rest_of_second` have no name in the
# object: they belong to the function before. The rows of `rest_of_first` are those of a function that is called. `helper` returns,
# because what comes after it does: the code after a call of it is executed.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	first
	.type	first, @function
first:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call	g
	mov	%eax, %ebx
	.cfi_endproc
	.size	first, .-first
.Lrest_of_first:
	.cfi_startproc
	call	g
	pop	%rbx
	ret
	.cfi_endproc
	.globl	second
	.type	second, @function
second:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	nop
	.cfi_endproc
	.size	second, .-second
.Lrest_of_second:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call	g
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.globl	caller
	.type	caller, @function
caller:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	helper
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	caller, .-caller
	.type	helper, @function
helper:
	.cfi_startproc
	mov	$1, %edi
	.cfi_endproc
	.size	helper, .-helper
	.type	rest_of_helper, @function
rest_of_helper:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size	rest_of_helper, .-rest_of_helper
