 .text
 .globl _start
 .type _start,@function
_start:
 .cfi_startproc
 push %rbp
 .cfi_def_cfa_offset 16
 .cfi_offset 6,-16
 mov %rsp,%rbp
 .cfi_def_cfa_register 6
 call two@PLT
 pop %rbp
 .cfi_def_cfa 7,8
 ret
 .cfi_endproc
 .size _start,.-_start
 .globl first
 .type first,@function
first:
 .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size first,.-first
 .section .note.GNU-stack,"",@progbits
