# Functions without bytes, in the middle and at the end of the section, and a rule that starts at the end of a function.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	done name
	.size	\name, .-\name
	.endm

	.text
function no_bytes
	.cfi_startproc
	.cfi_endproc
done no_bytes

# A rule that begins where the function ends.
function rule_at_the_end
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_def_cfa_offset 16
	.cfi_endproc
done rule_at_the_end

function no_bytes_at_the_end
	.cfi_startproc
	.cfi_endproc
done no_bytes_at_the_end
