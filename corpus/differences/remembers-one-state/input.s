# Two nested remembered states: only the second one is kept.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
#
# `remember_state` pushes to a stack, but the assemblers store only one state. At 2, SFrame says CFA = FP + 16, which is the last
# remembered state, already restored at 1.
# The jump to 2 is before FP is set. There, FP is that of the caller, and there was one push, so the CFA is SP + 16.
# After the pop it is SP + 8, but SFrame says FP + 8. CFI and LLVM 23 are right. Every other assembler is wrong, on every machine.
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
