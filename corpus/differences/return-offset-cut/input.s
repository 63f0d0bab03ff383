# The return address is too far from the CFA for a one-byte offset: the offset is truncated to the size of the row's other words.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# The size of a row's words depends on the offsets of CFA and FP, but not on that of the return address. -136 is 0xff78, which is truncated
# to 0x78, 120. (With -256, SFrame says CFA + 0. If the CFA's offset is 128 or more, words have two bytes, and the row is right.)
# After the first two instructions, the return address is 128 bytes below SP, at CFA - 136. Its own slot is overwritten, and CFA + 120
# is in the caller's frame. CFI is right. glibc's `setcontext` has CFA + 168, which SFrame has as CFA - 88.
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
