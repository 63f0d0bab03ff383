# A signal handler returns to this code, which is never called: SP is at the context that the kernel saved. RSP is at 160 bytes from
# there, RIP at 168, RBP at 120 (arch/x86/include/uapi/asm/sigcontext.h).
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	as_function, as_context, as_wrong_context
	nop
	.type	as_function, @function
as_function:
	.cfi_startproc
	mov	$15, %eax
	syscall
	.cfi_endproc
	.size	as_function, .-as_function
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6		# CFA: *(rsp+160)
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1		# RA: *(rsp+168)
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0		# RBP: *(rsp+120)
	nop
	.type	as_context, @function
as_context:
	mov	$15, %rax
	syscall
	.cfi_endproc
	.size	as_context, .-as_context
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6		# CFA: *(rsp+160)
	.cfi_escape 0x10, 16, 3, 0x77, 0xb0, 1		# RA: *(rsp+176), which holds the flags
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0		# RBP: *(rsp+120)
	nop
	.type	as_wrong_context, @function
as_wrong_context:
	mov	$15, %rax
	syscall
	.cfi_endproc
	.size	as_wrong_context, .-as_wrong_context
