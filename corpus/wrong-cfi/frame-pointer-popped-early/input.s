# FP is restored before the return address is reached, and the CFA is counted from FP until then.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# After the `pop`, RBP is the caller's, and CFI's CFA is 16 bytes above it. SFrame says the same.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%edi, %eax
	pop	%rbp
	nop
	ret
	.cfi_endproc
	.size	f, .-f
