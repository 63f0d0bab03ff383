// The return address is signed, without a directive.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// `paciasp` puts a signature into the upper bits of x30, and `.cfi_negate_ra_state` is missing: CFI says that the address is plain, and SFrame says
// the same. An unwinder that uses it as it is gets an address that no code has. CFA and FP are right.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	paciasp
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	bl	g
	ldp	x29, x30, [sp], 16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	autiasp
	ret
	.cfi_endproc
	.size	f, .-f
