# `--gc-sections` discards `.sframe`.
#
# Machine: x86_64
# File: 2.40.exe  2.40     ld --gc-sections -e f input.o
# File: 2.44.exe  2.44     ld --gc-sections -e f input.o
# File: gold.exe  2.44     gold --gc-sections -e f input.o
# File: lld.exe   llvm-23  lld --gc-sections -e f input.o
#
# f and its CFI are kept. SFrame can express its only row (CFA = SP + 8), and the input has this row. 2.47.50 and mold keep the section.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
