# What GCC 4.4 writes: directives for the prologue alone. In `mixed`, a call follows with a part of the frame gone, which is another mistake.
	.file	"old.c"
	.text
	.macro	function name, other:vararg
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	h
	add	$24, %rsp
	\other
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm
	function a
	function b
	function c, mov %ebx, %eax
	function mixed, call h
	.ident	"GCC: (GNU) 4.4.5"
