# The return address is undefined for a while. In SFrame, it stays undefined.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# Neither `.cfi_offset rip, -8` nor `.cfi_restore rip` ends the effect of `.cfi_undefined rip`: SFrame has "RA undefined" up to the end of the
# function, so that an unwinder takes it for the outermost frame and stops.
# The second `mov` puts the return address back where SP points, at CFA - 8. CFI is right. Versions 1 and 2 cannot express an
# undefined return address, so as 2.40, 2.44 and LLVM 23 happen to be right here.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	(%rsp), %rax
	movq	$0, (%rsp)
	.cfi_undefined rip
	mov	%rax, (%rsp)
	.cfi_offset rip, -8
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
