# A function without CFI rules: SFrame marks it as the outermost frame.
#
# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# `.cfi_startproc simple` starts without rules, and there are none: CFI does not say where the CFA is, and it does not say
# that the return address is undefined. GNU as 2.47.50 writes an entry without rows, which marks an outermost frame (V3 1.2):
# every reader takes the stack for complete there. The function has pushed nothing and returns, so it has a caller: SFrame is
# wrong. An entry left out, as 2.40 and 2.44 do, would be right.
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc simple
	nop
	ret				# the return address is where SP points
	.cfi_endproc
	.size	f, .-f
