# CFI has no rule for the CFA, but SFrame has one, FP + 0.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# `.cfi_startproc simple` starts without rules, and none follow. CFI does not define the CFA, and SFrame should not either.
# FP is still that of the caller, and the function has pushed nothing, so the CFA is SP + 8. SFrame is wrong. GNU as
# leaves the function out (2.40, 2.44) or writes an entry without rows (2.47.50, see `simple-outermost`).
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	nop
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
