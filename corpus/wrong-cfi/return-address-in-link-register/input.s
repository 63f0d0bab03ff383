// The return address is stored and loaded again, without directives for it.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// The `bl` writes the address after it to x30. From there to the `ldr`, the return address is in the slot at CFA - 8 alone. CFI
// says that it is unchanged in x30, and SFrame says the same: an unwinder comes back to the same place for ever. Before the `bl`
// and after the `ldr`, they are right.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	sub	sp, sp, 16
	.cfi_def_cfa_offset 16
	str	x30, [sp, 8]
	bl	g
	add	x0, x0, 1
	ldr	x30, [sp, 8]
	add	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
