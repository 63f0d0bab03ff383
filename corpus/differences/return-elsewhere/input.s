# The return address is not where the ABI requires it, which SFrame ignores.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: llvm-23.o  llvm-23
#
# On AMD64, the return address in versions 1 and 2 is always at CFA - 8, and the function should have been left out.
# After the `movq`, that slot has 0, and the return address is at CFA - 16, where the pop reads it. CFI is right.
# SFrame 3 can express it, and 2.47.50 does.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pushq	(%rsp)
	.cfi_def_cfa_offset 16
	.cfi_offset rip, -16
	movq	$0, 8(%rsp)
	popq	(%rsp)			# the return address is where SP points, 0 is above it
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
	.size	f, .-f
