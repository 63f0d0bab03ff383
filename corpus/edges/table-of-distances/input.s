# A jump through a table of 32-bit distances, which `lea` adds to the table's address, as glibc's string functions do.
#
# Machine: x86_64
# File: linked.so   2.47.50  ld -shared -z lazy input.o
	.text
	.globl	choose
	.type	choose, @function
choose:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	and	$3, %edi
	lea	.Ltable(%rip), %r10
	movslq	(%r10,%rdi,4), %r9
	lea	(%r10,%r9), %r10
	jmp	*%r10
.Lfirst:
	mov	$1, %eax
	pop	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.Lsecond:
	.cfi_restore_state
	mov	$2, %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	choose, .-choose
	.section .rodata,"a",@progbits
	.balign	4
.Ltable:
	.long	.Lfirst-.Ltable, .Lsecond-.Ltable, .Lfirst-.Ltable, .Lsecond-.Ltable
