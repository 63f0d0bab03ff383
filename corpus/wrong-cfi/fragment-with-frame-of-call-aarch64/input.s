// A fragment of a function, to which only a jump leads, has directives as if it were called.
//
// Machine: aarch64
// File: 2.40.o     2.40
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// BOLT wrote such entries for the parts of functions that it moved (LLVM issue 211392). The frame of `f` still exists there.
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	cmp	x0, x1
	b.ne	f.warm
back:	ldp	x29, x30, [sp], 32
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
	.type	f.warm, %function
f.warm:
	.cfi_startproc
	add	x0, x0, x1
	b	back
	.cfi_endproc
	.size	f.warm, .-f.warm
