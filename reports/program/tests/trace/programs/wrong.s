# Functions with CFI that is right, and if WRONG is defined, also functions with CFI that is wrong.
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$0x1234, %ebp
	call	right
	call	cfa
	call	ra
	call	fp
	call	ends
	call	expression
	call	drops
	call	getpc
	call	retpoline
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, .-_start

	.type	right, @function
right:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	sub	$32, %rsp
	.cfi_adjust_cfa_offset 32
	nop
	add	$32, %rsp
	.cfi_adjust_cfa_offset -32
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	right, .-right

# The second push is not described: at two PCs, the CFA is rsp+24.
	.type	cfa, @function
cfa:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	push	%r12
	.ifndef	WRONG
	.cfi_adjust_cfa_offset 8
	.endif
	nop
	pop	%r12
	.ifndef	WRONG
	.cfi_adjust_cfa_offset -8
	.endif
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	cfa, .-cfa

# The return address is in memory.
	.type	ra, @function
ra:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.ifdef	WRONG
	.cfi_offset rip, -16
	.endif
	nop
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
	.size	ra, .-ra

# rbp is saved at CFA-16, and changed.
	.type	fp, @function
fp:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.ifndef	WRONG
	.cfi_rel_offset rbp, 0
	.endif
	mov	$5, %ebp
	nop
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	fp, .-fp

	.type	ends, @function
ends:
	.cfi_startproc
	.ifdef	WRONG
	.cfi_undefined rip
	.endif
	nop
	ret
	.cfi_endproc
	.size	ends, .-ends

# The CFA is rsp+8: DW_CFA_def_cfa_expression, 4 bytes: DW_OP_breg7 8, DW_OP_dup, DW_OP_drop. The return address is at
# CFA-8: DW_CFA_expression, register 16, 4 bytes: DW_OP_dup, DW_OP_drop, DW_OP_lit8 (or DW_OP_lit16), DW_OP_minus.
	.type	expression, @function
expression:
	.cfi_startproc
	.cfi_escape 0x0f, 4, 0x77, 8, 0x12, 0x13
	.ifdef	WRONG
	.cfi_escape 0x10, 16, 4, 0x12, 0x13, 0x40, 0x1c
	.else
	.cfi_escape 0x10, 16, 4, 0x12, 0x13, 0x38, 0x1c
	.endif
	nop
	ret
	.cfi_endproc
	.size	expression, .-expression

# SP is above the return address for a while.
	.type	drops, @function
drops:
	.cfi_startproc
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rcx
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	nop
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
	.size	drops, .-drops

# `call` as a way to get the PC, and a return that jumps.
	.type	getpc, @function
getpc:
	.cfi_startproc
	call	1f
1:	.cfi_adjust_cfa_offset 8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	getpc, .-getpc

	.type	retpoline, @function
retpoline:
	.cfi_startproc
	lea	right(%rip), %rax
	call	2f
1:	pause
	jmp	1b
	.cfi_endproc
	.size	retpoline, .-retpoline
	.type	thunk, @function
thunk:
	.cfi_startproc
2:	mov	%rax, (%rsp)
	ret
	.cfi_endproc
	.size	thunk, .-thunk
