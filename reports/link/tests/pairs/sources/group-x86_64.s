 .section .text.inl,"axG",@progbits,inl,comdat
 .weak inl
 .type inl,@function
inl:
 .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size inl,.-inl
 .text
 .globl one
 .type one,@function
one:
 .cfi_startproc
 nop
 nop
 ret
 .cfi_endproc
 .size one,.-one
 .section .note.GNU-stack,"",@progbits
