# A register is saved below the red zone, without directives.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# A leaf function may keep data in the red zone, the 128 bytes below SP, as the first `mov` does. A program that inserts a `push` into a
# compiler's assembly therefore moves SP first. After the `lea` the CFA is SP + 136, after the `push` it is SP + 144.
# CFI says SP + 8 everywhere, and SFrame says the same.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	%rdi, -8(%rsp)
	lea	-128(%rsp), %rsp
	push	%rsi
	lea	constant(%rip), %rsi
	mov	(%rsi), %rdi
	pop	%rsi
	lea	128(%rsp), %rsp
	mov	-8(%rsp), %rax
	add	%rdi, %rax
	ret
	.cfi_endproc
	.size	f, .-f

	.section .rodata
	.balign	8
constant:
	.quad	0x9999
