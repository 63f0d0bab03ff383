# A `restore` says that the return address is where the ABI requires it again, which SFrame ignores.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# SFrame still says that the return address is in R11. With `.cfi_offset rip, -8` instead of `.cfi_restore rip`, it would be right.
# After the push, the return address is where SP points, at CFA - 8, and after the `xor`, R11 is 0. CFI is right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pop	%r11
	.cfi_def_cfa_offset 0
	.cfi_register rip, r11
	push	%r11
	.cfi_def_cfa_offset 8
	.cfi_restore rip
	xor	%r11d, %r11d
	ret				# the return address is where SP points, R11 is 0
	.cfi_endproc
	.size	f, .-f
