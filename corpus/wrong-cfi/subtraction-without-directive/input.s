# Space is reserved on the stack, without directives.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# The `sub` moves SP down by 72 bytes and the `add` moves it up again: in between, the CFA is SP + 80.
# CFI says SP + 8 everywhere, and SFrame says the same. An unwinder takes a word of the function's data for the return address.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$72, %rsp
	mov	%rdi, (%rsp)
	mov	%rsi, 64(%rsp)
	call	g
	add	(%rsp), %rax
	add	$72, %rsp
	ret
	.cfi_endproc
	.size	f, .-f
