// Code that changes: made at run time, written over, and mapped in the place of other code.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline, noclone))

#ifdef NAME
// A library.
int NAME(int n) { return n + VALUE; }
#else

// mov $1, %eax; ret
__asm__(".p2align 12\n"
        ".type patched, @function\n"
        "patched: .cfi_startproc\n"
        "mov $1, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size patched, .-patched\n"
        ".p2align 12\n");
int patched(void);

// mov $3, %eax; ret
static const unsigned char code[] = {0xb8, 3, 0, 0, 0, 0xc3};

APART int made(void) {
    void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(place, code, sizeof code);
    return ((int (*)(void))(intptr_t)place)();
}
APART int patches(void) {
    unsigned char *place = (unsigned char *)(intptr_t)patched;
    mprotect(place, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    place[1] = 2;
    mprotect(place, 4096, PROT_READ | PROT_EXEC);
    return patched();
}
APART int library(const char *path, const char *name) {
    void *library = dlopen(path, RTLD_NOW);
    int (*function)(int) = (int (*)(int))(intptr_t)dlsym(library, name);
    int result = function(4);
    if (getenv("PRINT")) printf("%p\n", (void *)(intptr_t)function);
    dlclose(library);
    return result;
}

int main(void) {
    int sum = made() + patches() + library("./one.so", "one") + library("./two.so", "two");
    return sum == 3 + 2 + 14 + 24 ? 0 : 1;
}
#endif
