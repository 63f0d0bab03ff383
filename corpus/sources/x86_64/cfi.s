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
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_remember_state
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	.cfi_remember_state
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
	nop
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
done remembers

# Two changes without an instruction between them: only the second one applies.
function changes_in_place
	.cfi_startproc
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 8
	.cfi_adjust_cfa_offset 8
	.cfi_adjust_cfa_offset 8
	nop
	.cfi_def_cfa_offset 40
	.cfi_def_cfa_offset 32
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
done changes_in_place

function odd_offsets
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 9
	nop
	.cfi_def_cfa_offset 127
	nop
	.cfi_def_cfa_offset 128
	nop
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
done odd_offsets

function below_the_cfa
	.cfi_startproc
	nop
	.cfi_def_cfa_offset -16
	ret
	.cfi_endproc
done below_the_cfa

# The stack pointer is switched to another stack, and the CFA's base is neither SP nor FP.
function other_base
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa r10, 0
	and	$-64, %rsp
	push	%rbp
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00	# DW_CFA_expression: rbp is at rbp + 0
	mov	%rsp, %rbp
	push	%r10
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06	# DW_CFA_def_cfa_expression: *(rbp - 8)
	pop	%r10
	.cfi_def_cfa r10, 0
	pop	%rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
done other_base

# The return address is in a register.
function return_in_register
	.cfi_startproc
	pop	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, r11
	push	%r11
	.cfi_adjust_cfa_offset 8
	.cfi_offset rip, -8
	ret
	.cfi_endproc
done return_in_register

# The caller's frame pointer is in a register.
function frame_pointer_in_register
	.cfi_startproc
	mov	%rbp, %r9
	.cfi_register rbp, r9
	xor	%ebp, %ebp
	mov	%r9, %rbp
	.cfi_restore rbp
	ret
	.cfi_endproc
done frame_pointer_in_register

# The return address is not where the ABI requires it.
function return_elsewhere
	.cfi_startproc
	nop
	.cfi_offset rip, -16
	.cfi_def_cfa_offset 16
	nop
	ret
	.cfi_endproc
done return_elsewhere

# A function that starts without rules.
function simple_with_rules
	.cfi_startproc simple
	.cfi_def_cfa rsp, 16
	.cfi_offset rip, -8
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

# Registers other than RA and FP, which SFrame does not record.
function saves_others
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset r12, -24
	.cfi_undefined rdx
	.cfi_same_value rbp
	pop	%r12
	.cfi_adjust_cfa_offset -8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
done saves_others
