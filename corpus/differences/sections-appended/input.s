# Sections are appended to each other instead of merged.
#
# Machine: x86_64
# File: lld.so   llvm-23  lld -shared input.o input.o
# File: gold.so  2.47.50  gold -shared input.o input.o
#
# The same object is linked twice. The first header has the number of functions of the first input, and readers do not look further,
# so the second function is lost, although its section is the same. CFI is merged and has both.
	.text
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
