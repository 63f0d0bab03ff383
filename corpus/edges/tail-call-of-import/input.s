# A tail call of an imported function, by its entry in the GOT. The jump leads to another function, and nothing leads to what follows.
#
# Machine: x86_64
# File: linked.so   2.47.50  ld -shared -z lazy input.o
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	jmp	*g@GOTPCREL(%rip)
	mov	%edi, %eax
	ret
	.cfi_endproc
	.size	f, .-f
