// The CFA is based on a register other than SP and FP, and on SP again at the same PC: the whole function is lost.
//
// Machine: aarch64
// File: 2.44.o     2.44
// File: 2.47.50.o  2.47.50
//
// "non-SP/FP register 9 in .cfi_def_cfa". The rule applies to no PC, and SFrame can express all rows.
// (2.44 and LLVM 23 do the same on AMD64, where 2.47.50 can express it. Found by `assemblers` in `fuzz/`.)
	.text
	.globl	f
	.type	f, %function
f:
	.cfi_startproc
	sub	sp, sp, 16
	.cfi_def_cfa x9, 16
	.cfi_def_cfa sp, 16
	add	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	f, .-f
