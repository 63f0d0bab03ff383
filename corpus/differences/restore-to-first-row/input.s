# `restore` of a rule that the function starts with: the rule remains in effect.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
#
# `restore` returns to the rule of the CIE. LLVM's CIE has none for FP, so FP is unchanged. Its SFrame returns to the function's
# first row instead, and says that the caller's FP is at CFA - 16.
# At the return, the pop has restored FP, and its slot, now below SP, has been overwritten. CFI is right.
# (GNU as puts the first rules into the CIE, so that the same source has another meaning, on which both of its sections agree. If it does
# not, see `restore-with-older-cie`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	.cfi_def_cfa_offset 16		# a part of a function that has been entered before, as cold parts are
	.cfi_offset rbp, -16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	movq	$0, -8(%rsp)
	ret				# FP is the caller's
	.cfi_endproc
	.size	f, .-f
