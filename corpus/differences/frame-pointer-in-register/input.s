# The caller's FP is in another register, which SFrame ignores.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# SFrame 2 cannot express this. The function should have been left out, but SFrame says that FP is unchanged.
# After the `xor`, FP is 0 and the caller's FP is in R9. CFI is right. 2.40 and 2.44 leave the function out. SFrame 3 can express it.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	%rbp, %r9
	.cfi_register rbp, r9
	xor	%ebp, %ebp
	mov	%r9, %rbp		# FP is 0, R9 the caller's FP
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
