# A function that calls code of its own, and replaces the return address. There, the CFA of the function is rsp+16 and
# that of the call is rsp+8; if WRONG is defined, the CFI has neither.
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call	jumps
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

	.type	jumps, @function
jumps:
	.cfi_startproc
	call	2f
1:	pause
	jmp	1b
2:
	.ifdef	WRONG
	.cfi_adjust_cfa_offset 16
	.else
	.cfi_adjust_cfa_offset 8
	.endif
	lea	3f(%rip), %rax
	mov	%rax, (%rsp)
	ret
3:
	.ifdef	WRONG
	.cfi_adjust_cfa_offset -16
	.else
	.cfi_adjust_cfa_offset -8
	.endif
	ret
	.cfi_endproc
	.size	jumps, .-jumps
