# Intel APX: `push2p` and `pop2p` move RSP by 16 bytes. In `counted_once`, CFI counts one register.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	right, counted_once
	.type	right, @function
right:
	.cfi_startproc
	pushp	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push2p	%r14, %r15
	.cfi_adjust_cfa_offset 16
	.cfi_offset %r15, -24
	.cfi_offset %r14, -32
	xor	%ebp, %ebp
	call	g
	pop2p	%r15, %r14
	.cfi_adjust_cfa_offset -16
	popp	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	right, .-right
	.type	counted_once, @function
counted_once:
	.cfi_startproc
	push2	%rbx, %r12
	.cfi_adjust_cfa_offset 8
	call	g
	pop2	%r12, %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	counted_once, .-counted_once
