# FP is saved with `rel_offset`, which SFrame ignores.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# `.cfi_rel_offset rbp, 0` is `.cfi_offset rbp, -16` relative to SP. SFrame says that FP is unchanged.
# After the `xor`, FP is 0 and the caller's FP is in the slot that the pop reads. CFI, including LLVM's own, is right. So is GNU as.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	xor	%ebp, %ebp
	pop	%rbp			# FP is 0, the caller's FP is where SP points
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
