// Frames that are left without a return.
#include <setjmp.h>
#include <stddef.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf place;

APART void deep(int n) {
    if (n == 0) longjmp(place, 1);
    deep(n - 1);
    __asm__ volatile("");
}
APART int after(int n) { return n + 1; }
APART int tries(int n) {
    if (setjmp(place) == 0) deep(n);
    return after(n) + after(n);
}
// The frame is larger when it calls `deep` than when it calls `setjmp`.
APART int grows(int n) {
    if (setjmp(place) == 0) {
        volatile char *bytes = __builtin_alloca(n * 16);
        bytes[n] = 1;
        deep(n);
    }
    return after(n);
}
APART int outer(int n) { return grows(n) + tries(n); }

int main(void) { return tries(5) + outer(3) == 24 ? 0 : 1; }
