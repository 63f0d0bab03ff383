# GCC writes `.cfi_restore` for the cold part of a function, and GNU as moves it into the CIE, where there is no rule to restore. It
# concerns R12 in one function, and RBP in another. In `disputed`, the CIE has a rule for RBP: libgcc drops it, readelf keeps it. In
# `unknown`, a call frame instruction that nobody knows comes after the first row.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
	.text
	.globl	other, frame, disputed, unknown
	.type	other, @function
other:
	.cfi_startproc simple
	.cfi_def_cfa rsp, 8
	.cfi_offset rip, -8
	.cfi_restore r12
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	nop
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	other, .-other
	.type	frame, @function
frame:
	.cfi_startproc simple
	.cfi_def_cfa rsp, 8
	.cfi_offset rip, -8
	.cfi_restore rbp
	nop
	ret
	.cfi_endproc
	.size	frame, .-frame
	.type	disputed, @function
disputed:
	.cfi_startproc simple
	.cfi_def_cfa rsp, 8
	.cfi_offset rip, -8
	.cfi_offset rbp, -16
	.cfi_restore rbp
	nop
	ret
	.cfi_endproc
	.size	disputed, .-disputed
	.type	unknown, @function
unknown:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	nop
	.cfi_escape 0x3a
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	unknown, .-unknown
