# A function's start field is relative to the field itself, but readers take it as relative to the section.
#
# Machine: x86_64
# File: gold.so    2.44  gold -shared input.o
# File: lld.so     2.44  lld -shared input.o
# File: lld-v1.so  2.40  lld -shared input.o
#
# In versions 1 and 2, start addresses are relative to the section. GNU as 2.40 and 2.44 write a PC-relative relocation, with which they are relative
# to the field. GNU ld adds the difference when it merges, but other linkers do not. f is found 0x1c bytes too early, where there is no code.
# g and h are found 0x30 and 0x44 bytes too early (0x2d and 0x3e in version 1). Their entries overlap, both describe `none`, which has no CFI, and h's
# rows for a frame are on g, which has none. The end of g and all of h are lost. CFI is right: h's rows follow its instructions, and f and g have no frame.
# Sections with the flag for field-relative addresses (4: 2.47.50, LLVM 23) are not affected.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f

	.type	none, @function
none:
	.fill	39, 1, 0x90
	ret
	.size	none, .-none

	.globl	g
	.type	g, @function
g:
	.cfi_startproc
	.fill	31, 1, 0x90
	ret
	.cfi_endproc
	.size	g, .-g

	.globl	h
	.type	h, @function
h:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.fill	46, 1, 0x90
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	h, .-h
