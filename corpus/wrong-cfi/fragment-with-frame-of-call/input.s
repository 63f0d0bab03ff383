# A fragment of a function, to which only a jump leads, has directives as if it were called.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# BOLT wrote such entries for the parts of functions that it moved (LLVM issue 211392). The frame of `f` still exists there.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	sub	$32, %rsp
	.cfi_def_cfa_offset 48
	mov	%rdi, %rbx
	cmp	%rdi, %rsi
	jne	f.warm
back:	mov	%rbx, %rax
	add	$32, %rsp
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
	.type	f.warm, @function
f.warm:
	.cfi_startproc
	add	%rsi, %rbx
	jmp	back
	.cfi_endproc
	.size	f.warm, .-f.warm
