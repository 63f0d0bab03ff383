# `restore` of a rule that the function starts with, after another function: the rule remains in effect.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
#
# `restore` returns to the rule of the CIE. GNU as puts a function's first rules into its CIE, unless an existing CIE is a prefix of them.
# Here, `g` has a CIE without a rule for FP, so FP is unchanged. SFrame nevertheless returns to the function's first row, and says that the
# caller's FP is at CFA - 16. Without `g`, both sections say so, and both are wrong.
# At the return, the pop has restored FP, and its slot, now below SP, has been overwritten. CFI is right. Found in the cold parts of
# gcc's `cc1`, of gdb and of rustc.
	.text
	.globl	g
	.type	g, @function
g:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	g, .-g
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
