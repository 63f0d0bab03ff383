# A `.cfi_escape` says that the return address is elsewhere, which SFrame ignores.
#
# Machine: x86_64
# File: llvm-23.o  llvm-23
# File: 2.47.50.o  2.47.50
#
# LLVM decodes escapes only for the CFA, and GNU as 2.47.50 of this form only those for FP; older releases leave the function out.
# This one is an expression for the return address, RBP - 8, which SFrame 2 cannot express, and SFrame 3 in flexible rows. The
# function should have been left out, but SFrame says CFA - 8, as always.
# The first two `mov` after the prologue copy the return address to RBP - 8, and the `movq` overwrites the original. CFI is right.
# (Found by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	mov	8(%rbp), %rax
	mov	%rax, -8(%rbp)
	.cfi_escape 0x10, 0x10, 0x02, 0x76, 0x78	# DW_CFA_expression: rip is at rbp - 8
	movq	$0, 8(%rbp)
	mov	-8(%rbp), %rax
	mov	%rax, 8(%rbp)
	.cfi_offset rip, -8
	pop	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f
