# A CFA based on a register that SFrame 1 cannot express: SP is written instead.
#
# Machine: x86_64
# File: 2.40.o  2.40
#
# In SFrame 1, the base is SP or FP. The function should have been left out, but SFrame says CFA = SP + 0.
# From the `and` on, SP is at an unknown distance below the CFA, and R10 contains the CFA. CFI is right. 2.44 and LLVM 23 leave
# the function out, with a warning. SFrame 3 can express it, and 2.47.50 does.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	lea	8(%rsp), %r10		# where SP was before the call
	.cfi_def_cfa r10, 0
	and	$-64, %rsp
	lea	-8(%r10), %rsp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	f, .-f
