# The lock stubs of glibc before 2.23: the row names a PC of the same function as the return address, and its SP as the CFA. It is
# not the row of this code's frame.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
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
	xor	%eax, %eax
	test	%esi, %esi
	jne	1f
0:	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
1:	.cfi_startproc simple
	.cfi_def_cfa %rsp, -128
	.cfi_escape 0x16, 16, 2, 0x80, 7		# RA: the PC + 7
	sub	$128, %rsp
	.cfi_def_cfa_offset 0
	.cfi_escape 0x16, 16, 2, 0x80, 0x77		# RA: the PC - 9, which is 0 above
2:	lea	128(%rsp), %rsp
	jmp	0b
	.cfi_endproc
	.size	f, .-f
