# The directive for the push of FP names another register.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# Both pushes are followed by `.cfi_offset rbx`; the second one is that of RBP. After the `lea`, FP is the address of a constant, and the
# caller's FP is only in its slot at CFA - 24. CFI says that FP is unchanged, and SFrame says the same. (CFI also looks for RBX in the
# slot of RBP. SFrame does not describe RBX.) CFA and the return address are right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -24
	lea	constant(%rip), %rbp
	mov	%rdi, %rbx
	add	(%rbp), %rbx
	mov	%rbx, %rax
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f

	.section .rodata
	.balign	8
constant:
	.quad	0x9999
