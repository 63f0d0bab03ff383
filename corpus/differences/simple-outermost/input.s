# A function without CFI rules is marked as the outermost frame.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# `.cfi_startproc simple` starts without rules, and none follow. CFI neither defines the CFA nor says that the return address is
# undefined. GNU as 2.47.50 writes an entry without rows, which marks an outermost frame (V3 1.2), so that every reader ends the
# stack there. The function returns, so it has a caller. SFrame is wrong. The function should be left out, as by 2.40
# and 2.44.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	nop
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
