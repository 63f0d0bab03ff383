# `ld -r` moves the entries, but not their relocations.
#
# Machine: x86_64
# File: 2.40.o  2.40  ld -r input.o input.o
# File: 2.44.o  2.44  ld -r input.o input.o
#
# The same object is linked twice. Both entries are in one table, at 0x1c and at 0x1c plus an entry's size (17 bytes in version 1, 20 in version 2).
# The second relocation is where the second section's entry would be if the sections were appended. So the address of the
# second function is unknown in SFrame. The relocations of the CFI are right for both. 2.47.50 moves the relocations as well.
	.text
	.type	f, @function
f:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	f, .-f
