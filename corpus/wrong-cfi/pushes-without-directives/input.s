# Registers are pushed, without directives.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# Each push moves SP down by 8 bytes, so the CFA is SP + 16 after the first one and SP + 24 after the second one.
# CFI says SP + 8 everywhere, and SFrame says the same. An unwinder takes a saved register for the return address.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	push	%rbp
	xor	%ebp, %ebp		# from here on, the caller's FP is only in its slot
	lea	(%rdi, %rsi), %rbx
	mov	%rbx, %rax
	pop	%rbp
	pop	%rbx
	ret
	.cfi_endproc
	.size	f, .-f
