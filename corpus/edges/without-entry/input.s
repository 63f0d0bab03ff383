# Functions that have no directives, so that neither SFrame nor CFI has an entry: `cleanse` (17 bytes, openssl/openssl#10635), `larger` with
# a second name, and `bare`, of which nobody wrote the size. `partly` has an entry for its last instruction, and `table` is data.
#
# Machine: x86_64
# File: 2.44.o     2.44
# File: 2.47.50.o  2.47.50
# File: linked.so  2.47.50  ld -shared input.o
	.text
	.globl	cleanse, user
	.type	cleanse, @function
cleanse:
	test	%rsi, %rsi
	je	1f
	movb	$0, (%rdi)
	dec	%rsi
	inc	%rdi
	jmp	cleanse
1:	ret
	.size	cleanse, .-cleanse
	.type	user, @function
user:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	cleanse@plt
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	user, .-user
	.p2align 4
	.globl	larger, second_name
	.type	larger, @function
	.type	second_name, @function
larger:
second_name:
	mov	%rdi, %rax
	lea	(%rax,%rsi,4), %rax
	add	%rdx, %rax
	imul	%rcx, %rax
	xor	%r8, %rax
	sub	%r9, %rax
	ret
	.size	larger, .-larger
	.size	second_name, .-second_name
	.p2align 4
	.type	partly, @function
partly:
	nop
	.cfi_startproc
	ret
	.cfi_endproc
	.size	partly, .-partly
	.p2align 4
	.type	table, @object
table:
	.quad	0x0f0f0f0f0f0f0f0f, 0xf0f0f0f0f0f0f0f0
	.size	table, .-table
	.globl	bare
bare:
	mov	$1, %eax
	ret
	.p2align 4
	.type	last, @function
last:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	last, .-last
