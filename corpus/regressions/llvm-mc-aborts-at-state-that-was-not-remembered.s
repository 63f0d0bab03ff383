# llvm-mc 23 --gsframe -filetype=obj -triple x86_64-linux-gnu: "SmallVector unable to grow", aborted.
#
# If a function has no row yet, LLVM does not remember a state for SFrame ("skipping SFrame FDE; .cfi_remember_state without prior SFrame FRE
# state"), but restores one nevertheless, and then has -1 remembered states.
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
