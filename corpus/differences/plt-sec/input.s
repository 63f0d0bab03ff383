# `.plt.sec` is described as if it were `.plt`: a head, and stubs behind it.
#
# Machine: x86_64
# File: 2.40.so  2.40  ld -shared -z ibtplt input.o
#
# `.plt.sec` has no head: a stub is `endbr64` and `jmp`, entered by a call. Nothing is pushed, and the CFA is SP + 8 all through. For the first
# stub SFrame says SP + 16, and SP + 24 from byte 6 on, as is right for the head of `.plt`, where the stub behind has pushed one word and
# the head pushes another. CFI is right. 2.44 and 2.47.50 write SP + 8.
#
# The entry for the stubs behind starts one stub too late and ends behind the section: here it lies over f, whose own entry starts at the
# same place; its one row, SP + 8, is right there by luck. The stubs of `.plt` have a wrong row as well: it starts at 11, where the push of
# a plain stub ends; after `endbr64` the push ends at 9 (the lint `row-inside-instruction` sees it in the file). Version 1 does not record
# how long a repeated block is, and these rows are right with none: the comparison calls `.plt` undecided.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	jmp	g@PLT
	.cfi_endproc
	.size	f, .-f
