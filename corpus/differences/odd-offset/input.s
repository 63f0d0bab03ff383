# A CFA offset that is not a multiple of 8 is rounded down.
#
# Machine: s390x
# File: 2.47.50.o  2.47.50
#
# On s390x, (offset - 160) / 8 is stored. 161 cannot be encoded, and the function should have been left out, but SFrame says
# SP + 160.
# The CFA was SP + 160 before `aghi` subtracted 1 from SP, so it is SP + 161. CFI is right.
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
