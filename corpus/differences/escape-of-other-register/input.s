# A register that is none of SFrame's business has a rule that the assembler does not know by name: the function is lost.
#
# Machine: x86_64
# File: 2.40.o  2.40
# File: 2.44.o  2.44
#
# Any `.cfi_escape` does it, one byte of padding (DW_CFA_nop) too. This one says where RBX is saved. CFI's rules for CFA, RA and FP
# are plain, and the instructions bear them out: a push and a pop. 2.47.50 and LLVM 23 describe the function.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_escape 0x10, 0x03, 0x02, 0x77, 0x00	# DW_CFA_expression: rbx is at rsp + 0
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f
