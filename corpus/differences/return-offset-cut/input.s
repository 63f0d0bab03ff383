# A return address further from the CFA than a byte can say: its offset is cut to the size of the row's other words.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# A row's words are as large as the offsets of CFA and FP need; the return address is not asked. -136 is 0xff78, of which 0x78, 120, is
# left. (With -256 SFrame says CFA + 0. Where the CFA's offset is 128 or more, words have two bytes, and all is right.)
# From the first two instructions on the return address is 128 below SP, at CFA - 136; its own slot is overwritten, and what is
# at CFA + 120 is the caller's. CFI is right. glibc's `setcontext` has CFA + 168, of which SFrame makes CFA - 88.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	(%rsp), %rcx
	mov	%rcx, -128(%rsp)
	.cfi_offset rip, -136
	movq	$0, (%rsp)
	pop	%rcx
	.cfi_def_cfa_offset 0
	jmp	*-136(%rsp)		# the return
	.cfi_endproc
	.size	f, .-f
