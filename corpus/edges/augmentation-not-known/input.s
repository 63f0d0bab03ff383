# Machine: x86_64
# File: 2.47.50.o  2.47.50
#
# A CIE whose augmentation has a letter that no unwinder knows, written by hand beside one of the assembler.
	.text
	.globl known
	.type known,@function
known:
	.cfi_startproc
	ret
	.cfi_endproc
	.size known,.-known
	.globl unknown
	.type unknown,@function
unknown:
	ret
	.size unknown,.-unknown
	.section .eh_frame,"a",@progbits
.Lcie:
	.long .Lcie_end-.Lcie_id
.Lcie_id:
	.long 0
	.byte 1
	.asciz "zRQ"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte 0x1b                      # DW_EH_PE_pcrel | DW_EH_PE_sdata4
	.byte 0x0c,7,8                  # DW_CFA_def_cfa: rsp+8
	.byte 0x90,1                    # DW_CFA_offset: the return address at CFA-8
	.balign 8,0
.Lcie_end:
	.long .Lfde_end-.Lfde_cie
.Lfde_cie:
	.long .Lfde_cie-.Lcie
	.long unknown-.
	.long 1
	.uleb128 0
	.balign 8,0
.Lfde_end:
	.section .note.GNU-stack,"",@progbits
