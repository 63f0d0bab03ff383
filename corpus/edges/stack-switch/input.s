# Functions that run others on a stack of their caller's choice. By `by_register` and `by_frame_pointer`, CFI says where the old SP is.
# In `not_declared`, it does not, and in `pushed`, the old SP is on the other stack, from which CFI loads it in `declared`. `swap` leaves for the other stack and returns
# there: which frame its rows describe after `mov %rsi, %rsp` depends on who asks.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	by_register, by_frame_pointer, not_declared, pushed, swap, declared
	.type	by_register, @function
by_register:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register rbx
	mov	%rsi, %rsp
	call	*%rdi
	mov	%rbx, %rsp
	.cfi_def_cfa_register rsp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	by_register, .-by_register
	.type	by_frame_pointer, @function
by_frame_pointer:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	mov	%rdi, %rsp
	push	%rsi
	call	*%rsi
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	by_frame_pointer, .-by_frame_pointer
	.type	not_declared, @function
not_declared:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rsp, %rbx
	mov	%rsi, %rsp
	call	*%rdi
	mov	%rbx, %rsp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
	.type	pushed, @function
pushed:
	.cfi_startproc
	mov	%rsp, %rax
	mov	%rdx, %rsp
	push	%rax
	call	*%rdi
	pop	%rsp
	ret
	.cfi_endproc
	.size	pushed, .-pushed
	.type	swap, @function
swap:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	swap, .-swap
	.type	declared, @function
declared:
	.cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa_register rax
	mov	%rdx, %rsp
	push	%rax
	# DW_CFA_def_cfa_expression: *(RSP+0) + 8
	.cfi_escape 0x0f, 0x05, 0x77, 0x00, 0x06, 0x23, 0x08
	call	*%rdi
	pop	%rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	declared, .-declared
