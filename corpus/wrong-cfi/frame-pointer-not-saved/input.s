# A routine uses FP for data and does not restore it, because its only caller has saved it.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# After the `mov`, FP is an argument, and nothing in the frame of `inner` has the value that FP had at its entry: FP is lost, and
# `.cfi_undefined rbp` is missing. CFI says that FP is unchanged, and SFrame says the same. `f` is right: its CFI says where it has saved
# its caller's FP.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	call	inner
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	f, .-f

	.type	inner, @function
inner:
	.cfi_startproc
	mov	%rdi, %rbp
	lea	(%rbp, %rsi), %rax
	ret
	.cfi_endproc
	.size	inner, .-inner
