# FP is saved and then loaded with data, without `.cfi_offset`.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# From the first `mov` to the `pop`, RBP holds what the call or memory gave. CFI says that FP is unchanged, and SFrame says the
# same. Between the `push` and the first `mov`, that is right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	call	g
	mov	%rax, %rbp
	mov	-8(%rsp), %rdx
	movzbl	(%rsp), %ebp
	xor	%ebp, %ebp
	lea	(%rax,%rdx), %rbp
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
