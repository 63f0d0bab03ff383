// Frames of every kind that a compiler makes without leaving them early.
#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

APART int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

APART int last(int n) { return n * 3; }
APART int tail(int n) { return last(n + 1); }

APART int on_stack(int size) {
    char *bytes = alloca(size);
    memset(bytes, size, size);
    return bytes[size / 2];
}

APART int array(int size) {
    int sum = 0;
    for (int i = 1; i < size; i++) {
        int values[i];
        memset(values, i, sizeof values);
        sum += values[i - 1];
    }
    return sum;
}

APART int aligned(int n) {
    _Alignas(64) volatile char bytes[128];
    bytes[n] = n;
    return bytes[n] + last(n);
}

APART int variadic(int count, ...) {
    va_list arguments;
    va_start(arguments, count);
    int sum = 0;
    while (count--) sum += va_arg(arguments, int);
    va_end(arguments);
    return sum;
}

APART int table(int n) {
    switch (n) {
    case 0: return last(7);
    case 1: return tail(9);
    case 2: return on_stack(30);
    case 3: return recursive(3);
    case 4: return array(3);
    case 5: return aligned(5);
    default: return 0;
    }
}

APART int many(int a, int b, int c, int d, int e, int f, int g, int h) {
    return last(a) + last(b) + last(c) + last(d) + last(e) + last(f) + last(g) + last(h);
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    int sum = recursive(7) + tail(2) + on_stack(100) + array(6) + aligned(4) + variadic(3, 1, 2, 3);
    for (int i = 0; i < 7; i++) sum += table(i);
    sum += many(1, 2, 3, 4, 5, 6, 7, 8);
    int values[] = {5, 3, 9, 1};
    qsort(values, 4, sizeof *values, by_value);
    return sum + values[0] > 0 ? 7 : 8;
}
