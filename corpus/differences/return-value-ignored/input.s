# The return address is computed from the CFA, but SFrame says that it is at CFA - 8.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# `f` drops its return address and continues at the code that its caller has put on the stack above it, at the CFA. As `.cfi_val_offset` says,
# the return address is the CFA itself. The slot below SP, where SFrame has the return address, has been overwritten. CFI is right.
# No SFrame version can express this, and the function should have been left out. (Found by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pop	%rax
	.cfi_def_cfa_offset 0
	.cfi_val_offset rip, 0
	movq	$0, -8(%rsp)
	jmp	*%rsp			# to the CFA
	.cfi_endproc
	.size	f, .-f
