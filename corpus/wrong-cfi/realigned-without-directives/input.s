# FP is set up and the stack is aligned, without directives.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# After the push the CFA is SP + 16, after the `mov` it is also FP + 16. The `and` moves SP down by a number of bytes that depends on
# the caller, so from there on only FP gives the CFA, and the caller's FP is at CFA - 16.
# CFI says SP + 8 and FP unchanged everywhere, and SFrame says the same.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	mov	%rsp, %rbp
	and	$-32, %rsp
	sub	$64, %rsp
	mov	%rdi, (%rsp)
	call	g
	mov	%rbp, %rsp
	pop	%rbp
	ret
	.cfi_endproc
	.size	f, .-f
