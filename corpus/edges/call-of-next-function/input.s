# A call at the end of a function, of the function that comes right after it, is a call and no push: nothing comes back to the next
# instruction of `f`, which is that of `g`.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	test	%edi, %edi
	jne	1f
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_def_cfa_offset 32
	call	g
	.cfi_endproc
	.size	f, .-f
	.type	g, @function
g:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	g, .-g
