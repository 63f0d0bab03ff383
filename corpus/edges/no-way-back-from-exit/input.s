# After `exit` and `exit_group`, nothing is executed. After `getpid`, the function goes on.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	exits, goes_on
	.type	exits, @function
exits:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	xor	%edi, %edi
	test	%esi, %esi
	jne	1f
	mov	$60, %eax
	syscall
	.cfi_def_cfa_offset 8
	hlt
1:	.cfi_def_cfa_offset 16
	mov	$231, %eax
	syscall
	.cfi_def_cfa_offset 8
	nop
	.cfi_endproc
	.size	exits, .-exits
	.type	goes_on, @function
goes_on:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	mov	$39, %eax
	syscall
	.cfi_def_cfa_offset 8
	pop	%rbx
	ret
	.cfi_endproc
	.size	goes_on, .-goes_on
