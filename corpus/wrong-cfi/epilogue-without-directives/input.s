# The prologue has directives, and the epilogue has none.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# The shape of the output of old versions of Clang: the rows are right at calls, but not where a sampling profiler may stop. CFI says SP + 48
# up to the end, and SFrame says the same. After the `add` the CFA is SP + 24, after the pops it is SP + 16 and SP + 8. The caller's FP is
# read from the right distance to a wrong CFA, and is in its own register from the second `pop` on.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	push	%rbx
	.cfi_def_cfa_offset 24
	sub	$24, %rsp
	.cfi_def_cfa_offset 48
	.cfi_offset rbx, -24
	.cfi_offset rbp, -16
	mov	%rdi, %rbx
	xor	%ebp, %ebp		# from here on, the caller's FP is only in its slot
	call	g
	add	%rbx, %rax
	add	$24, %rsp
	pop	%rbx
	pop	%rbp
	ret
	.cfi_endproc
	.size	f, .-f
