// FP is restored before the instruction that frees the frame, and the CFA is counted from FP until then.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// GCC writes this for frames of more than 512 bytes; the frame here is smaller. After the `ldp`, x29 is the caller's, so that CFI's CFA is 160 bytes above
// it; SFrame says the same.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	sub	sp, sp, 160
	.cfi_def_cfa_offset 160
	stp	x29, x30, [sp]
	.cfi_offset x29, -160
	.cfi_offset x30, -152
	mov	x29, sp
	.cfi_def_cfa_register x29
	str	x19, [sp, 16]
	.cfi_offset x19, -144
	mov	x19, x0
	bl	g
	add	x0, x0, x19
	ldp	x29, x30, [sp]
	ldr	x19, [sp, 16]
	add	sp, sp, 160
	.cfi_restore x29
	.cfi_restore x30
	.cfi_restore x19
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
	.size	f, .-f
