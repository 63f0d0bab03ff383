# In CFI, the caller's FP is lost. In SFrame, it is unchanged.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# No version can express that FP is lost, and the function should have been left out.
# After the `xor`, FP is 0 and there is no copy of the caller's FP. CFI is right. 2.47.50 leaves the function out, with a warning.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	xor	%ebp, %ebp
	.cfi_undefined rbp
	ret				# FP is 0
	.cfi_endproc
	.size	f, .-f
