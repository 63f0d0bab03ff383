# Sections are appended to each other instead of merged.
#
# Machine: x86_64
# File: lld.so   llvm-23  lld -shared input.o input.o
# File: gold.so  2.47.50  gold -shared input.o input.o
#
# The same object twice. The first header counts the functions of the first input, and no reader looks behind what it counts:
# the second function, byte for byte like the first one, is lost. CFI is merged and has both.
	.text
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
