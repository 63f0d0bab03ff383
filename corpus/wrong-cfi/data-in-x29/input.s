// FP is used for data, without a directive.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// `.cfi_offset` describes the slot of the return address, and none that of FP, which the `stp` has written to CFA - 16.
// After the `mov`, x29 is the function's argument. CFI says that FP is unchanged, and SFrame says the same. The rest is right.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -8
	mov	x29, x0
	add	x29, x29, x1
	mov	x0, x29
	ldp	x29, x30, [sp], 16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
