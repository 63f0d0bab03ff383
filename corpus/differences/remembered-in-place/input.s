# A rule and `remember_state` at the same PC: the rule is lost.
#
# Machine: x86_64
# File: 2.40.o  2.40
# File: 2.44.o  2.44
#
# The assembler remembers the last complete row instead of the current rules. At 1, the row after the push is missing. SFrame has
# the row before it, with CFA = SP + 8 and FP unchanged.
# Label 1 is reached only by the jump after one push, so the CFA is SP + 16 and the caller's FP is in the slot that the pop reads.
# CFI is right, and so are 2.47.50 and LLVM 23.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_remember_state
	jc	1f
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
1:	pop	%rbp			# SP is 8 below what it was at f
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
