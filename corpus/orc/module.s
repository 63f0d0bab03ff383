# Functions as in a module of Linux 6.12, with entries of ORC tables and SFrame, but no .eh_frame:
#   as --64 --gsframe module.s -o module.o        (GNU as 2.44)
    .macro orc sp, bp, flags
77: .pushsection .orc_unwind_ip, "a"
    .long 77b - .
    .popsection
    .pushsection .orc_unwind, "a"
    .short \sp, \bp, \flags
    .popsection
    .endm
    .cfi_sections .sframe
    .section .orc_header, "a"
    .byte 0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9
    .byte 0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24
    .text
# Both tables are right.
    .type right, @function
right:
    .cfi_startproc
    orc 8, 0, 0x205
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    orc 16, -16, 0x215
    pop %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore %rbp
    orc 8, 0, 0x205
    ret
    .cfi_endproc
    .size right, . - right
# After the push, ORC has CFA rsp+32.
    .type wrong_orc, @function
wrong_orc:
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    orc 32, 0, 0x205
    pop %rbx
    .cfi_def_cfa_offset 8
    orc 8, 0, 0x205
    ret
    .cfi_endproc
    .size wrong_orc, . - wrong_orc
# The push has no directive.
    .type wrong_sframe, @function
wrong_sframe:
    .cfi_startproc
    push %rbx
    orc 16, 0, 0x205
    pop %rbx
    orc 8, 0, 0x205
    ret
    .cfi_endproc
    .size wrong_sframe, . - wrong_sframe
# Without directives, there is no SFrame.
    .type only_orc, @function
only_orc:
    ret
    .size only_orc, . - only_orc
    orc 0, 0, 0
# The assembler cannot express this in SFrame V2.
    .type other_register, @function
other_register:
    orc 0, 0, 0x246
    ret
    .size other_register, . - other_register
    orc 0, 0, 0
