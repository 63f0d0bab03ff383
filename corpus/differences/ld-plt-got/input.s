# For stubs of `.plt.got`, the CFA is wrong by one slot.
#
# Machine: x86_64
# File: 2.44.so     2.44     ld -shared input.o
# File: 2.47.50.so  2.47.50  ld -shared input.o
#
# A function that is called and whose address is taken has a stub in `.plt.got`: one `jmp`, entered by a call. Nothing is
# pushed, so the CFA is SP + 8. SFrame says SP + 16, so an unwinder that stops there uses data of the caller as return address.
# CFI is right. 2.40 does not describe the stubs.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	g@GOTPCREL(%rip), %rax
	jmp	g@PLT			# a sibling call: SP is as after a call
	.cfi_endproc
	.size	f, .-f
