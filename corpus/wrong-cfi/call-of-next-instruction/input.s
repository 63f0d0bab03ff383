# A call of the instruction after it, which finds out where the code is, pushes 8 bytes without a directive.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# At the `pop`, SP is 8 bytes lower than CFI says; SFrame says the same. In the second pair, directives say so.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	1f
1:	pop	%rax
	mov	%rax, %rdx
	call	2f
2:	.cfi_adjust_cfa_offset 8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
