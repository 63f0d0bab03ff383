# A CFA offset that is no multiple of 8: rounded down.
#
# Machine: s390x
# File: 2.47.50.o  2.47.50
#
# On s390x offsets are stored divided by 8, after 160 has been taken off. 161 has no encoding, and the function should have been
# left out; SFrame says SP + 160.
# `aghi` has taken 1 off SP, and the CFA was SP + 160 before: it is SP + 161. CFI is right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	aghi	%r15, -1
	.cfi_def_cfa_offset 161
	aghi	%r15, 1
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	f, .-f
