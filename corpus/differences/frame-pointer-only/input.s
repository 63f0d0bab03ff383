// FP is saved and the return address is not: SFrame says that FP's slot has the return address.
//
// Machine: aarch64
// File: 2.40.o  2.40
//
// On AArch64, the first word after that of the CFA is for the return address. Version 1 cannot express that only FP is saved, and the
// function should have been left out. SFrame says that RA is at CFA - 16 and FP is unchanged.
// The `str` has written x29 there, and x30 is unchanged. CFI is right. 2.44 and 2.47.50 leave the function out, with a warning.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	str	x29, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	mov	x29, 0
	ldr	x29, [sp], 16		// x30 is the return address, the slot holds the caller's FP
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	ret
	.cfi_endproc
	.size	f, .-f
