# A function without a rule for the return address is described with the usual one.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# `.cfi_startproc simple` starts without rules. The CFA gets one, the return address none, so that CFI says that it is unchanged:
# in its register, which AMD64 does not have. Versions 1 and 2 put RA at CFA-8 always, and version 3 does so by default. All
# assemblers describe the function nevertheless. The return address is where SP points, so that SFrame is right in the end, but the
# assembler cannot know that: the function should be left out.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	.cfi_def_cfa rsp, 8
	nop
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
