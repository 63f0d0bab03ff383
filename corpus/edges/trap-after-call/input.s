# A compiler puts a trap after a call that does not return, and describes the frame of the entry there. Who calls does not say
# whether the function returns, so that nothing is wrong for certain. A trap with the right row is proven all the same. In `wrong`, the
# row is wrong at the call, where nothing is in doubt, and not at the trap.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	doubtful, right
	.type	doubtful, @function
doubtful:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	g
	.cfi_def_cfa_offset 8
	ud2
	.cfi_endproc
	.size	doubtful, .-doubtful
	.type	right, @function
right:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	g
	ud2
	.cfi_endproc
	.size	right, .-right
	.type	wrong, @function
wrong:
	.cfi_startproc
	sub	$24, %rsp
	call	g
	ud2
	.cfi_endproc
	.size	wrong, .-wrong
