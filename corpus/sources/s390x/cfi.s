# Hand-written CFI that compilers rarely emit and assemblers accept.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	done name
	.size	\name, .-\name
	.endm

	.text
function remembers
	.cfi_startproc
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset r11, -72
	.cfi_offset r14, -48
	.cfi_offset r15, -40
	.cfi_remember_state
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r15
	.cfi_def_cfa_register r11
	.cfi_remember_state
	lmg	%r11, %r15, 248(%r11)
	.cfi_restore r11
	.cfi_restore r14
	.cfi_restore r15
	.cfi_def_cfa r15, 160
	br	%r14
	.cfi_restore_state
	nopr
	lmg	%r11, %r15, 248(%r11)
	.cfi_restore_state
	br	%r14
	.cfi_endproc
done remembers

# A leaf function saves registers in floating-point registers.
function saved_in_registers
	.cfi_startproc
	ldgr	%f2, %r11
	.cfi_register r11, f2
	ldgr	%f0, %r14
	.cfi_register r14, f0
	lgdr	%r14, %f0
	.cfi_restore r14
	lgdr	%r11, %f2
	.cfi_restore r11
	br	%r14
	.cfi_endproc
done saved_in_registers

function frame_pointer_in_register_return_on_stack
	.cfi_startproc
	stg	%r14, 112(%r15)
	.cfi_offset r14, -48
	ldgr	%f2, %r11
	.cfi_register r11, f2
	lgdr	%r11, %f2
	.cfi_restore r11
	br	%r14
	.cfi_endproc
done frame_pointer_in_register_return_on_stack

# Only the frame pointer is saved: the word for the return address is padding.
function frame_pointer_only
	.cfi_startproc
	stg	%r11, 88(%r15)
	.cfi_offset r11, -72
	nopr
	lg	%r11, 88(%r15)
	.cfi_restore r11
	br	%r14
	.cfi_endproc
done frame_pointer_only

function return_only
	.cfi_startproc
	stg	%r14, 112(%r15)
	.cfi_offset r14, -48
	nopr
	lg	%r14, 112(%r15)
	.cfi_restore r14
	br	%r14
	.cfi_endproc
done return_only

function other_base
	.cfi_startproc
	lgr	%r1, %r15
	.cfi_def_cfa r1, 160
	aghi	%r15, -160
	lgr	%r15, %r1
	.cfi_def_cfa r15, 160
	br	%r14
	.cfi_endproc
done other_base

# The CFA's offset is not a multiple of eight, so it cannot be encoded.
function odd_offset
	.cfi_startproc
	nopr
	.cfi_def_cfa_offset 161
	br	%r14
	.cfi_endproc
done odd_offset

function simple_without_rules
	.cfi_startproc simple
	nopr
	br	%r14
	.cfi_endproc
done simple_without_rules
