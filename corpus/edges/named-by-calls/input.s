# Functions that only calls name: the program has neither symbols nor CFI.
#
# Machine: x86_64
# File: linked.exe   2.47.50  ld -s input.o
	.text
	.globl	_start
_start:
	call	.Lfirst
	mov	%eax, %edi
	mov	$60, %eax
	syscall
.Lfirst:
	push	%rbp
	mov	%rsp, %rbp
	call	.Lsecond
	pop	%rbp
	ret
.Lsecond:
	sub	$8, %rsp
	call	.Lthird
	add	$8, %rsp
	ret
.Lthird:
	xor	%eax, %eax
	ret
