# Machine: x86_64
# File: lld.so  2.47.50  lld -shared --eh-frame-hdr input.o
# File: ld.so   2.47.50  ld -shared --eh-frame-hdr input.o
#
# A function without code at the start of another one, as compilers leave it where code was found to be unreachable. lld keeps one entry of
# .eh_frame_hdr for both, the one of the first FDE, which describes nothing; GNU ld leaves that FDE out.
	.section .text.empty,"ax",@progbits
	.type empty,@function
empty:
	.cfi_startproc
	.cfi_endproc
	.size empty,.-empty
	.section .text.real,"ax",@progbits
	.globl real
	.type real,@function
real:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp,-16
	mov %rsp,%rbp
	call leaf
	pop %rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size real,.-real
	.type leaf,@function
leaf:
	.cfi_startproc
	ret
	.cfi_endproc
	.size leaf,.-leaf
	.section .note.GNU-stack,"",@progbits
