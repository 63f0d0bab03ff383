# A function's start counts from its own field, and readers count from the section.
#
# Machine: x86_64
# File: gold.so  2.44  gold -shared input.o
# File: lld.so   2.44  lld -shared input.o
#
# In versions 1 and 2 the start is relative to the section. GNU as 2.40 and 2.44 write a relocation against PC that makes it relative to the field;
# GNU ld adds the difference when it merges, other linkers do not know of it. f is found 0x1c bytes too early, where no code is.
# At its right place it is lost. CFI leads to f. Entries that say that they count from the field (flag 4: 2.47.50, LLVM 23) are safe.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
