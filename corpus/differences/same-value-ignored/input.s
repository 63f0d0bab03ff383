# After a `same_value`, FP is no longer in its slot, which SFrame ignores.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# SFrame still says that the caller's FP is at CFA - 16.
# After the `movq`, that slot has 0, and FP is unchanged. CFI is right, and so is 2.47.50.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	$0, (%rsp)
	.cfi_same_value rbp
	add	$8, %rsp		# FP is the caller's, its slot has been overwritten
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
