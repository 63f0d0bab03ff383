// Hand-written CFI that compilers rarely emit and assemblers accept.
	.macro	function name
	.globl	\name
	.type	\name, %function
\name:
	.endm
	.macro	done name
	.size	\name, .-\name
	.endm

	.text
function remembers
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	.cfi_remember_state
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_restore_state
	mov	x29, sp
	.cfi_def_cfa_register x29
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
done remembers

// Only the return address is saved: rows have two words.
function return_only
	.cfi_startproc
	str	x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	nop
	ldr	x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x30
	ret
	.cfi_endproc
done return_only

// Only the frame pointer is saved, which no version can express.
function frame_pointer_only
	.cfi_startproc
	str	x29, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	nop
	ldr	x29, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	ret
	.cfi_endproc
done frame_pointer_only

// The return address is signed in the middle of a function.
function signed_for_a_while
	.cfi_startproc
	nop
	.cfi_negate_ra_state
	paciasp
	nop
	autiasp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
done signed_for_a_while

function signed_with_the_other_key
	.cfi_startproc
	.cfi_b_key_frame
	pacibsp
	.cfi_negate_ra_state
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	ldp	x29, x30, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	autibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
done signed_with_the_other_key

// The return address is in a register.
function return_in_register
	.cfi_startproc
	mov	x16, x30
	.cfi_register x30, x16
	nop
	mov	x30, x16
	.cfi_restore x30
	ret
	.cfi_endproc
done return_in_register

function other_base
	.cfi_startproc
	mov	x9, sp
	.cfi_def_cfa x9, 0
	sub	sp, x9, #16
	nop
	mov	sp, x9
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
done other_base

function simple_with_rules
	.cfi_startproc simple
	.cfi_def_cfa sp, 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	nop
	ret
	.cfi_endproc
done simple_with_rules

function simple_without_rules
	.cfi_startproc simple
	nop
	ret
	.cfi_endproc
done simple_without_rules

function saves_others
	.cfi_startproc
	stp	x19, x20, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x19, -16
	.cfi_offset x20, -8
	ldp	x19, x20, [sp], 16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	ret
	.cfi_endproc
done saves_others
