# Two remembered states, one inside the other: only the second one is kept.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
#
# `remember_state` is a stack, the assemblers have one place. At 2 SFrame says CFA = FP + 16, which was remembered last and
# has been restored at 1.
# The jump to 2 comes from before FP is set: there FP is the caller's, and one push has moved SP, so the CFA is SP + 16.
# After the pop it is SP + 8; SFrame stays at FP + 8. CFI is right, and so is LLVM 23. No other assembler on any machine is.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	test	%edi, %edi
	.cfi_remember_state
	je	2f
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	test	%esi, %esi
	.cfi_remember_state
	je	1f
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
1:	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
2:	pop	%rbp			# FP is the caller's, SP is 8 below what it was at f
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
