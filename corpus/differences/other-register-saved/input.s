# A register that is none of SFrame's business is kept in another one: the function is lost.
#
# Machine: x86_64
# File: 2.40.o  2.40
#
# SFrame has CFA, RA and FP. RBX is none of them: one row, CFA = SP + 8, holds from the first byte to the last, as CFI says and
# the instructions show, which touch neither SP nor FP. 2.44, 2.47.50 and LLVM 23 have that row.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	%rbx, %r8
	.cfi_register rbx, r8
	xor	%ebx, %ebx
	mov	%r8, %rbx
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	f, .-f
