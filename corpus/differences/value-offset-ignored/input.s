# The caller's FP is computed from the CFA, but SFrame says that it is unchanged.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# SFrame 2 cannot express this, and the function should have been left out.
# At entry, FP is the value of SP before the call, which is the CFA. After the `xor`, FP is 0, and the `lea` computes the caller's FP as CFI
# says. CFI is right. (Found by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	xor	%ebp, %ebp
	.cfi_val_offset rbp, 0
	nop				# FP is 0, the caller's is SP + 8
	lea	8(%rsp), %rbp
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
