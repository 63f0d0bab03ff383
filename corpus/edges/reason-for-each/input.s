# One function for each reason for which the code leaves a row undecided. CFI is right in all of them, or nobody can tell.
#
# Machine: x86_64
# File: 2.47.50.o   2.47.50
	.text
	.globl	not_decoded, open_jump, ways, value, outermost, padded, dead
	.type	not_decoded, @function
not_decoded:				# 0x06 is no instruction in 64-bit mode
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	.byte	0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	not_decoded, .-not_decoded
	.type	open_jump, @function
open_jump:				# the caller says where to go on in this frame
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	jmp	*%rdi
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	open_jump, .-open_jump
	.type	ways, @function
ways:					# with one word more on the stack, or not
	.cfi_startproc
	test	%edi, %edi
	je	1f
	push	%rax
	.cfi_def_cfa_offset 16
1:	.cfi_def_cfa_offset 8
	jmp	1b
	.cfi_endproc
	.size	ways, .-ways
	.type	value, @function
value:					# the stack comes from memory
	.cfi_startproc
	mov	(%rdi), %rsp
1:	jmp	1b
	.cfi_endproc
	.size	value, .-value
	.type	outermost, @function
outermost:				# code does not show that there is no caller
	.cfi_startproc
	.cfi_undefined %rip
	xor	%ebp, %ebp
1:	jmp	1b
	.cfi_endproc
	.size	outermost, .-outermost
	.type	padded, @function
padded:
	.cfi_startproc
	ret
	nopw	0(%rax,%rax,1)
	.cfi_endproc
	.size	padded, .-padded
	.type	dead, @function
dead:					# nothing leads to the second return
	.cfi_startproc
	ret
	mov	%edi, %eax
	ret
	.cfi_endproc
	.size	dead, .-dead
	.type	handler, @function
handler:				# the kernel enters it, with a stack of its own
	.cfi_startproc
	.cfi_signal_frame
	nop
	ret
	.cfi_endproc
	.size	handler, .-handler
