# After a `restore`, the frame pointer is where the first row has it: its control word is 0, and an offset follows.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# The words of the third row are 0x39 0x10 0x00 0x00 0xf0: CFA = SP + 16, padding for RA, then 0 for FP's control word and -16. In
# V3 3.2, a control word of 0 is padding of one word, so the row has one word too many, whose meaning is undefined. objdump
# prints the intended row, "c-16", for which the control word would be 0x02, as in the first row. After the push, the caller's
# frame pointer is where SP points, at CFA - 16, and after the `xor`, R11 is 0. CFI is right.
	.text
	.globl	f
	.type	f, @function
f:					# a part of a function that has pushed RBP
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	pop	%r11
	.cfi_def_cfa_offset 8
	.cfi_register rbp, r11
	push	%r11
	.cfi_def_cfa_offset 16
	.cfi_restore rbp
	xor	%r11d, %r11d
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_same_value rbp
	ret
	.cfi_endproc
	.size	f, .-f
