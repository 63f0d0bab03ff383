# Inline assembly pushes FP around instructions that need the register.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# The shape of a compiler's output for such a function in C: the compiler's own directives surround the statement and cannot
# know of the push. After it the CFA is SP + 40, and after the `mov` the caller's FP is only in its slot at CFA - 40.
# CFI says SP + 32 and FP unchanged, and SFrame says the same.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
#APP
	push	%rbp
	mov	%rdi, %rbp
	lea	(%rbp, %rsi), %rax
	pop	%rbp
#NO_APP
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
