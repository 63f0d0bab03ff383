 .text
 .globl two
 .type two,@function
two:
 .cfi_startproc
 sub $8,%rsp
 .cfi_def_cfa_offset 16
 add $8,%rsp
 .cfi_def_cfa_offset 8
 ret
 .cfi_endproc
 .size two,.-two
 .globl three
 .type three,@function
three:
 .cfi_startproc
 nop
 nop
 ret
 .cfi_endproc
 .size three,.-three
 .globl four
 .type four,@function
four:
 .cfi_startproc
 ret
 .cfi_endproc
 .size four,.-four
 .section .note.GNU-stack,"",@progbits
