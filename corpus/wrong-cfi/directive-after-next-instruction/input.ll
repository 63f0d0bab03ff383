; The directive for a pushed argument comes one instruction too late.
;
; Machine: x86_64
; File: llvm-23.o  llvm-23
; File: 2.44.o     2.44
; File: 2.47.50.o  2.47.50
;
; The seventh to the eleventh argument are pushed. LLVM puts `and` between the push of %y and its `.cfi_adjust_cfa_offset 8`. Before the
; `and`, the CFA is SP + 56, and CFI says SP + 48. SFrame says the same.
target triple = "x86_64-unknown-linux-gnu"

declare i64 @g(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)
declare void @h(i64, i64)

define void @f(i64 %x, i64 %y) nounwind uwtable {
  %a = call i64 @g(i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0)
  %both = and i64 %y, %x
  %b = call i64 @g(i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 %y, i64 0)
  call void @h(i64 %x, i64 %both)
  ret void
}
