# The caller's FP is kept in another register: ignored.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# SFrame 2 has no place for that, and the function should have been left out; SFrame says that FP is unchanged.
# After the `xor` FP is 0 and the caller's is in R9. CFI is right. 2.40 and 2.44 leave the function out; SFrame 3 can say it.
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
