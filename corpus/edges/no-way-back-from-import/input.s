# What comes after a call of an imported function that never returns has the row of the entry, as LLVM gives it to blocks without
# a predecessor. No unwinder ever asks for it.
#
# Machine: x86_64
# File: 2.47.50.o   2.47.50
# File: linked.so   2.47.50  ld -shared -z lazy input.o
	.text
	.globl	by_stub, by_pointer, throws
	.type	by_stub, @function
by_stub:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	test	%edi, %edi
	jne	1f
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_def_cfa_offset 32
	call	_Unwind_Resume@PLT
	.cfi_def_cfa_offset 8
	ud2
	.cfi_endproc
	.size	by_stub, .-by_stub
	.type	by_pointer, @function
by_pointer:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	*abort@GOTPCREL(%rip)
	.cfi_def_cfa_offset 8
	mov	%eax, %edi
	.cfi_endproc
	.size	by_pointer, .-by_pointer
	.type	throws, @function
throws:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	stops
	.cfi_def_cfa_offset 8
	mov	%eax, %edi
	.cfi_endproc
	.size	throws, .-throws
	.type	stops, @function
stops:
	.cfi_startproc
	jmp	_ZSt20__throw_length_errorPKc@PLT
	.cfi_endproc
	.size	stops, .-stops
