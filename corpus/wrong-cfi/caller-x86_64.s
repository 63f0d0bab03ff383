# Calls the `f` of each input, with equal and with different arguments, so that all paths are executed.
	.text
	.globl	_start, g, h
_start:
	mov	$0x1111, %rbp
	mov	$0x2222, %rbx
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
