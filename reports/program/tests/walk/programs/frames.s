# Functions by hand that crash in their prologue, body and epilogue, and with rules that compilers do not write.
	.text
	.globl	in_prologue, in_body, in_epilogue, by_rbx
	.type	in_prologue, @function
in_prologue:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	ud2
	mov	%rsp, %rbp
	.cfi_def_cfa_register 6
	pop	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size	in_prologue, .-in_prologue

	.type	in_body, @function
in_body:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register 6
	sub	$64, %rsp
	call	in_epilogue
	leave
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size	in_body, .-in_body

	.type	in_epilogue, @function
in_epilogue:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register 6
	sub	$32, %rsp
	leave
	.cfi_def_cfa 7, 8
	.cfi_restore 6
	ud2
	ret
	.cfi_endproc
	.size	in_epilogue, .-in_epilogue

# The CFA is found by a register that only this frame knows.
	.type	by_rbx, @function
by_rbx:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register 3
	sub	$48, %rsp
	ud2
	mov	%rbx, %rsp
	.cfi_def_cfa_register 7
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	by_rbx, .-by_rbx
# The same, but in a frame whose callee has saved the register and uses it itself.
	.globl	outer_rbx
	.type	outer_rbx, @function
outer_rbx:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register 3
	sub	$48, %rsp
	call	saves_rbx
	mov	%rbx, %rsp
	.cfi_def_cfa_register 7
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	outer_rbx, .-outer_rbx

	.type	saves_rbx, @function
saves_rbx:
	.cfi_startproc
	push	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	mov	%rbx, %r12
	.cfi_register 3, 12
	xor	%ebx, %ebx
	call	saves_r12
	mov	%r12, %rbx
	.cfi_restore 3
	pop	%r12
	.cfi_restore 12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	saves_rbx, .-saves_rbx

	.type	saves_r12, @function
saves_r12:
	.cfi_startproc
	push	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	xor	%r12d, %r12d
	call	in_prologue
	pop	%r12
	.cfi_restore 12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	saves_r12, .-saves_r12

# The call is the last instruction, because it does not return. The function after it has another frame.
	.globl	ends_with_call, comes_after
	.type	ends_with_call, @function
ends_with_call:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	crashes
	.cfi_endproc
	.size	ends_with_call, .-ends_with_call

	.type	comes_after, @function
comes_after:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	comes_after, .-comes_after

	.type	crashes, @function
crashes:
	.cfi_startproc
	ud2
	.cfi_endproc
	.size	crashes, .-crashes

# In this notation, every GNU as up to 2.47.50 loses the offset of the CFA (corpus/differences/register-in-place).
	.globl	misread
	.type	misread, @function
misread:
	.cfi_startproc
	push	%rbp
	mov	%rsp, %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_def_cfa_register rbp
	call	crashes
	pop	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	misread, .-misread
	.section	.note.GNU-stack, "", @progbits
