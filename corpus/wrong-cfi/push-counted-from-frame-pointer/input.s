# A push is counted, although the CFA is counted from FP.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# After the `mov`, the CFA is FP + 16, and a push does not change FP. `.cfi_adjust_cfa_offset` adds 8 nevertheless: CFI says
# FP + 24 up to the pop, and SFrame says the same. The rules for the return address and FP count from there, so they are wrong too.
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
	push	%rbx
	.cfi_adjust_cfa_offset 8
	mov	%rdi, %rbx
	lea	(%rbx, %rsi), %rax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	pop	%rbp
	.cfi_restore rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	f, .-f
