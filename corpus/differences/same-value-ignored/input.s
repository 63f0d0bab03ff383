# FP is no longer to be read from its slot, says `same_value`: ignored.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# SFrame goes on to say that the caller's FP is at CFA - 16.
# That slot holds 0 once the `movq` has run, and nothing has changed FP. CFI is right. 2.47.50 is too.
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
