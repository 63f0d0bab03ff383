 .text
 .globl _start
 .type _start,%function
_start:
 .cfi_startproc
 b two
 .cfi_endproc
  .globl first
 .type first,%function
first:
 .cfi_startproc
 nop
 ret
 .cfi_endproc
 .section .note.GNU-stack,"",%progbits
