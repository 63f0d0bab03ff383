# The CFA is adjusted by 24 where -24 is meant.
#
# Machine: x86_64
# File: 2.40.o     2.40
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# The `lea` at the end frees the 24 bytes that the `sub` has reserved: at the `ret`, the CFA is SP + 8 again. The directive adds 24
# a second time. CFI says SP + 56, and SFrame says the same. The return address is taken from 48 bytes above its slot.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	mov	%rdi, (%rsp)
	call	g
	add	(%rsp), %rax
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset 24
	ret
	.cfi_endproc
	.size	f, .-f
