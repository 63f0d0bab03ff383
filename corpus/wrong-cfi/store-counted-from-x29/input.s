// A store that moves SP is counted, although the CFA is counted from FP.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// After the `mov`, the CFA is x29 + 16, and `str` with a new value of SP does not change x29. `.cfi_adjust_cfa_offset` adds 16 nevertheless: CFI says
// x29 + 32, and SFrame says the same. The rules for the return address and FP count from there, so they are wrong too.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	str	x19, [sp, -16]!
	.cfi_adjust_cfa_offset 16
	mov	x19, x0
	bl	g
	ldr	x19, [sp], 16
	.cfi_adjust_cfa_offset -16
	ldp	x29, x30, [sp], 16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
	.size	f, .-f
