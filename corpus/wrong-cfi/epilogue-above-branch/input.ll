; A part of the epilogue is moved above a branch, without its directive.
;
; Machine: x86_64
; File: llvm-23.o  llvm-23
; File: 2.44.o     2.44
; File: 2.47.50.o  2.47.50
;
; Both sides of the branch end the function, so both begin with `add $8, %rsp`. LLVM moves the instruction above the comparison, and leaves
; both copies of `.cfi_def_cfa_offset 24` below the branch. From the `add` to the branch, the CFA is SP + 24.
; CFI says SP + 32, and SFrame says the same.
target triple = "x86_64-unknown-linux-gnu"

declare void @g(i64)
declare void @h(i64)

define void @f(i64 %x, i64 %y) nounwind uwtable {
  call void @g(i64 %x)
  %same = icmp eq i64 %x, %y
  br i1 %same, label %one, label %two

one:
  tail call void @g(i64 %y)
  ret void

two:
  tail call void @h(i64 %y)
  ret void
}
