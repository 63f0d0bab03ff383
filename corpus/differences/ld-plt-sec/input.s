# `.plt.sec` is described as if it were `.plt`, with a head followed by stubs.
#
# Machine: x86_64
# File: 2.40.so  2.40  ld -shared -z ibtplt input.o
#
# `.plt.sec` has no head: a stub is `endbr64` and `jmp`, entered by a call. Nothing is pushed, so the CFA is always SP + 8. For the first
# stub, SFrame says SP + 16, and SP + 24 from byte 6 on. This would be right for the head of `.plt`, which pushes a word after a stub has
# pushed one. CFI is right. 2.44 and 2.47.50 write SP + 8.
#
# The entry for the other stubs starts one stub too late and ends past the end of the section. Here it overlaps f, whose own entry starts at
# the same address, and whose only row, SP + 8, is right there by chance. The stubs of `.plt` have a wrong row too: it starts at 11, where
# the push of a plain stub ends, but after `endbr64` the push ends at 9 (the lint `row-inside-instruction` reports it in the file). Version 1
# does not record the size of a repeated block, and no size makes these rows right, so the comparison reports `.plt` as undecided.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	jmp	g@PLT
	.cfi_endproc
	.size	f, .-f
