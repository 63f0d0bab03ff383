# llvm-mc 23 --gsframe -filetype=obj -triple x86_64-linux-gnu: "SmallVector unable to grow", aborted.
#
# Where a function has no row yet, LLVM does not remember a state for SFrame ("skipping SFrame FDE; .cfi_remember_state without prior SFrame FRE
# state"), but goes back to one all the same, and then has -1 of them.
	.text
	.type	f, @function
f:
	.cfi_startproc
	.cfi_remember_state
	.cfi_restore_state
	push	%rbp
	.cfi_offset rbp, -16
	.cfi_remember_state
	ret
	.cfi_endproc
	.size	f, .-f
