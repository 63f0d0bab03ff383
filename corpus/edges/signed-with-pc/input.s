// FEAT_PAuth_LR signs the return address with SP and with the address of an instruction. In `not_declared`, CFI does not say so.
//
// Machine: aarch64
// File: 2.47.50.o  2.47.50
	.arch	armv9.5-a+pauth-lr
	.text
	.globl	right, not_declared
	.type	right, %function
right:
	.cfi_startproc
	.cfi_negate_ra_state_with_pc
1:	paciasppc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	bl	g
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	.cfi_negate_ra_state_with_pc
	autiasppc 1b
	ret
	.cfi_endproc
	.size	right, .-right
	.type	not_declared, %function
not_declared:
	.cfi_startproc
	pacm
	paciasp
	nop
	autiasp
	.cfi_escape 0x2b, 0, 0		// DW_CFA_AARCH64_set_ra_state 0, 0
	ret
	.cfi_endproc
	.size	not_declared, .-not_declared
