# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# `.debug_frame`, written by hand, says that the CFA is rsp+24 after the push; `.eh_frame` says rsp+16.
	.text
	.globl differs
	.type differs,@function
differs:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx,-16
	pop %rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.Ldiffers_end:
	.size differs,.-differs
	.section .debug_frame,"",@progbits
.Lcie:
	.long .Lcie_end-.Lcie_id
.Lcie_id:
	.long 0xffffffff
	.byte 1
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c,7,8                  # DW_CFA_def_cfa: rsp+8
	.byte 0x90,1                    # DW_CFA_offset: the return address at CFA-8
	.balign 8,0
.Lcie_end:
	.long .Lfde_end-.Lfde_cie
.Lfde_cie:
	.long .Lcie
	.quad differs
	.quad .Ldiffers_end-differs
	.byte 0x41                      # DW_CFA_advance_loc: 1
	.byte 0x0e,24                   # DW_CFA_def_cfa_offset: 24
	.byte 0x41                      # DW_CFA_advance_loc: 1
	.byte 0x0e,8                    # DW_CFA_def_cfa_offset: 8
	.balign 8,0
.Lfde_end:
	.section .note.GNU-stack,"",@progbits
