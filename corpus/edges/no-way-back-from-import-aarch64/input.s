// As for AMD64: `abort`, by a stub of the linker and by a pointer that the code has loaded.
//
// Machine: aarch64
// File: 2.47.50.o   2.47.50
// File: linked.so   2.47.50  ld -shared input.o
	.text
	.globl	by_stub
	.type	by_stub, %function
by_stub:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	cbnz	x0, 1f
	ldp	x29, x30, [sp], 16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
1:	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl	abort
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	mov	x0, x1
	.cfi_endproc
	.size	by_stub, .-by_stub
