# The stub for lazy TLS descriptors has another shape than the other stubs.
#
# Machine: x86_64
# File: 2.40.so     2.40     ld -shared input.o
# File: 2.44.so     2.44     ld -shared input.o
# File: 2.47.50.so  2.47.50  ld -shared input.o
#
# GNU ld adds a stub to `.plt`, its last one, which a call through the TLS descriptor enters: `endbr64`, `push` of a word of the GOT, `jmp`. After the
# push, at byte 10, the CFA is SP + 16. The expression in `.eh_frame` describes the other stubs, which push at byte 6 and jump at byte 11, so it
# gives SP + 8 at byte 10. The repeated block in `.sframe` says the same.
# lld 23 and mold 2 make no such stub. On AArch64 GNU ld makes one as well, but describes `.plt` in neither section.
# 2.47.50 puts the relocation of the descriptor into `.rela.dyn`, where it is not lazy, and still makes the stub.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	lea	x@TLSDESC(%rip), %rax
	call	*x@TLSCALL(%rax)
	call	g@PLT
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
