// A pair is pushed, and only its slots are described.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// The head of `.plt` pushes x16 and the return address, and jumps to the dynamic linker, which looks up the function. Here both are one function.
// `.cfi_rel_offset` says where the return address is, but no directive counts the 16 bytes: CFI says that the CFA is SP and later SP + 32,
// with the return address above it, at CFA + 8. The true CFA is SP + 16 and later SP + 48. A walker finds the right return address, and takes
// a stack pointer for the caller that is 16 bytes too low. SFrame says the same.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x16, x30, [sp, -16]!
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, -32]!
	.cfi_adjust_cfa_offset 32
	bl	g
	mov	x16, x0
	ldp	x0, x1, [sp], 32
	.cfi_adjust_cfa_offset -32
	ldp	x17, x30, [sp], 16
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	f, .-f
