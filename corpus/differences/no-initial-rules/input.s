# No rule for the CFA at all: SFrame has one, FP + 0.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# `.cfi_startproc simple` starts without rules, and there are none: CFI does not say where the CFA is, and SFrame cannot know.
# FP is the caller's here; the function has pushed nothing, so that the CFA is SP + 8. CFI is silent and SFrame wrong. GNU as
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
