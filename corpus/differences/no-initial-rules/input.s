# CFI has no rule for the CFA, but SFrame has one, FP + 0 or SP + 0.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
# File: 2.40.o  2.40
# File: 2.44.o  2.44
# File: 2.47.50.o  2.47.50
#
# `.cfi_startproc simple` starts without rules, and none for the CFA follows. CFI does not define the CFA, and SFrame should not
# either. FP is still that of the caller, and the function has pushed nothing, so the CFA is SP + 8. SFrame is wrong: LLVM
# writes FP + 0. From the second instruction on, for which CFI has a rule for another register, GNU as writes SP + 0. Without
# such a rule, GNU as leaves the function out (2.40, 2.44) or writes an entry without rows (2.47.50, see `simple-outermost`).
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	nop
	.cfi_same_value rbx
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
