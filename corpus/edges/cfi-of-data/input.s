# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# CFI directives in a section of data, as after a forgotten `.text`.
	.text
	.globl in_text
	.type in_text,@function
in_text:
	.cfi_startproc
	ret
	.cfi_endproc
	.size in_text,.-in_text
	.data
	.type in_data,@function
in_data:
	.cfi_startproc
	ret
	.cfi_endproc
	.size in_data,.-in_data
	.section .note.GNU-stack,"",@progbits
