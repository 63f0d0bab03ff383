// Code after a return is described as if the frame were gone.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// The directives of the first epilogue remain valid after its `ret`, because `.cfi_remember_state` and `.cfi_restore_state` are missing. The branch
// leads there with the frame: the CFA is SP + 16, and x29 and the return address are in their slots.
// CFI says that the CFA is SP and that both registers are unchanged, and SFrame says the same. After the `bl`, x30 is not the return address.
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
	cmp	x0, x1
	b.eq	1f
	ldp	x29, x30, [sp], 16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
1:	mov	x0, x1
	bl	g
	ldp	x29, x30, [sp], 16
	ret
	.cfi_endproc
	.size	f, .-f
