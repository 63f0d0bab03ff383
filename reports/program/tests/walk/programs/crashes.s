// Functions that crash if their argument is null. The CFI is for gdb, which reads a copy of the program that has it.
	.text
	.macro	function name
	.globl	\name
	.type	\name, %function
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	function _start
	.cfi_undefined x30
	mov	x29, #0
	mov	x30, #0
	mov	x0, sp
	bl	start
	brk	#0
	end	_start

// Between the instruction that opens the stack and the one that saves the return address.
	function opened
	sub	sp, sp, #64
	.cfi_def_cfa_offset 64
	ldr	x1, [x0]
	str	x30, [sp, #40]
	.cfi_offset 30, -24
	bl	leaf
	ldr	x30, [sp, #40]
	.cfi_restore 30
	add	sp, sp, #64
	.cfi_def_cfa_offset 0
	ret
	end	opened

// After both.
	function saved
	sub	sp, sp, #64
	.cfi_def_cfa_offset 64
	str	x30, [sp, #40]
	.cfi_offset 30, -24
	mov	x30, #1
	ldr	x1, [x0]
	bl	leaf
	ldr	x30, [sp, #40]
	.cfi_restore 30
	add	sp, sp, #64
	.cfi_def_cfa_offset 0
	ret
	end	saved

// In the epilogue: the return address is in its register again, and its place on the stack is overwritten.
	function restored
	sub	sp, sp, #64
	.cfi_def_cfa_offset 64
	str	x30, [sp, #40]
	.cfi_offset 30, -24
	mov	x30, #1
	ldr	x30, [sp, #40]
	.cfi_restore 30
	str	xzr, [sp, #40]
	ldr	x1, [x0]
	add	sp, sp, #64
	.cfi_def_cfa_offset 0
	ret
	end	restored

// After the epilogue, before the return.
	function closed
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ldr	x1, [x0]
	ret
	end	closed

// Two instructions open the stack, one with a size in a register. The return address is saved between them.
	function two_steps
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	mov	x9, #0x2340
	sub	sp, sp, x9
	.cfi_def_cfa_offset 0x2350
	mov	x30, #1
	ldr	x1, [x0]
	add	sp, sp, x9
	.cfi_def_cfa_offset 16
	ldr	x30, [sp], #16
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	end	two_steps

// The first epilogue is before the crash, in the order of addresses, but not executed.
	function early_return
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	cbz	x0, 1f
	.cfi_remember_state
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
1:
	.cfi_restore_state
	mov	x30, #1
	mov	x29, #2
	ldr	x1, [x0]
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	end	early_return

// The prologue is before the crash, in the order of addresses, but not executed.
	function on_one_path
	cbz	x0, 1f
	stp	x29, x30, [sp, #-32]!
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	bl	leaf
	ldp	x29, x30, [sp], #32
	ret
1:
	.cfi_restore_state
	ldr	x1, [x0]
	ret
	end	on_one_path

// The return address is in another register, as in functions that the compiler has outlined.
	function other_register
	mov	x9, x30
	.cfi_register 30, 9
	mov	x30, #1
	ldr	x1, [x0]
	mov	x30, x9
	.cfi_restore 30
	ret
	end	other_register

// The stack pointer is aligned: only the frame pointer tells where the frame is.
	function aligned
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	.cfi_def_cfa_register 29
	sub	x9, sp, #128
	and	sp, x9, #-128
	mov	x30, #1
	ldr	x1, [x0]
	mov	sp, x29
	.cfi_def_cfa_register 31
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	end	aligned

// The call is the last instruction, because it does not return. The function after it has another frame.
	function last_call
	str	x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 30, -48
	bl	opened
	end	last_call

	function comes_after
	ret
	end	comes_after
