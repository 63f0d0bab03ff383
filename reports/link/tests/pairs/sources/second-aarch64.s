 .text
 .globl two
 .type two,%function
two:
 .cfi_startproc
 nop
 ret
 .cfi_endproc
 .globl three
 .type three,%function
three:
 .cfi_startproc
 ret
 .cfi_endproc
 .globl four
 .type four,%function
four:
 .cfi_startproc
 ret
 .cfi_endproc
 .section .note.GNU-stack,"",%progbits
