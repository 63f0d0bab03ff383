# An instruction that has a directive is written as `.cfi_escape`: the whole function is lost.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
# File: llvm-23.o  llvm-23
#
# "no SFrame FDE emitted; .cfi_escape with op (0xe)", "unknown side effects". Both assemblers decode some escapes, but none that they
# support as directives. This one is `.cfi_def_cfa_offset 16`, and in the CFI both forms are the same.
# (2.40 and 2.44 drop any function with an escape: `escape-of-other-register`. Found by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbp
	.cfi_escape 0x0e, 0x10		# DW_CFA_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
