# A signal frame that SFrame cannot describe is marked as the outermost frame.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# The kernel has put the interrupted registers on the stack, and system call 15 (rt_sigreturn) loads them from there: RIP from
# RSP+168, RSP from RSP+160. CFI has expressions for this, which GNU as 2.47.50 does not translate. For an ordinary function,
# it would write no entry. For a signal frame, it says that it writes none, but writes one without rows, which marks an
# outermost frame (V3 1.2). Every reader then ends the stack before the interrupted code. SFrame is wrong.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06	# CFA = *(RSP+160)
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01	# RIP is at RSP+168
	mov	$15, %eax
	syscall
	.cfi_endproc
	.size	f, .-f
