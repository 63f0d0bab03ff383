# Calls the `f` of each input, with equal and with different arguments, so that all paths are executed.
	.text
	.globl	_start, g, h
_start:
	mov	$0x1111, %rbp
	mov	$0x2222, %rbx
	mov	$0xc0c0, %r12
	mov	$0xd0d0, %r13
	mov	$0xe0e0, %r14
	mov	$0xf0f0, %r15
	mov	$0x4444, %edi
	mov	$0x4444, %esi
	call	f
	mov	$0x5555, %edi
	mov	$0x6666, %esi
	call	f
	mov	$60, %eax		# exit
	xor	%edi, %edi
	syscall
g:
	mov	$0x7777, %eax
	ret
h:
	mov	$0x8888, %eax
	ret
