# A function's start field is relative to the field itself, but readers take it as relative to the section.
#
# Machine: x86_64
# File: gold.so  2.44  gold -shared input.o
# File: lld.so   2.44  lld -shared input.o
#
# In versions 1 and 2, start addresses are relative to the section. GNU as 2.40 and 2.44 write a PC-relative relocation, with which they are relative
# to the field. GNU ld adds the difference when it merges, but other linkers do not. f is found 0x1c bytes too early, where there is no code,
# and is lost at its own address. CFI is right. Sections with the flag for field-relative addresses (4: 2.47.50, LLVM 23) are not affected.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
