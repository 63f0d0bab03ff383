// Stacks of its own: on the heap, in the frame of `main`, and switched to by hand.
#include <stdlib.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define SIZE (1 << 16)

static ucontext_t first, second;
static volatile int count;

APART int work(int n) { return n + 1; }
APART void inside(void) {
    count += work(1);
    swapcontext(&second, &first);
    count += work(2);
}
static void other(void) {
    inside();
    inside();
}
APART void switches(char *stack) {
    getcontext(&second);
    second.uc_stack.ss_sp = stack;
    second.uc_stack.ss_size = SIZE;
    second.uc_link = &first;
    makecontext(&second, other, 0);
    for (int i = 0; i < 3; i++) {
        swapcontext(&first, &second);
        count += work(i);
    }
}

// Saves the registers on the stack, and continues where the other stack was left.
void exchange(void **from, void *to);
__asm__(".globl exchange\n"
        ".type exchange, @function\n"
        "exchange:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset rbp, 0\n"
        "push %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %rbx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_restore rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size exchange, .-exchange\n");

static void *main_stack, *other_stack;
APART void by_hand(void) {
    for (;;) {
        count += work(5);
        exchange(&other_stack, main_stack);
    }
}
APART void exchanges(char *stack) {
    void **top = (void **)(stack + SIZE) - 4;
    top[2] = by_hand;
    other_stack = top;
    for (int i = 0; i < 3; i++) {
        exchange(&main_stack, other_stack);
        count += work(6);
    }
}

int main(void) {
    char local[SIZE];
    char *heap = malloc(SIZE);
    switches(heap);
    exchanges(heap);
    switches(local);
    exchanges(local);
    return work(count) > 100 ? 0 : 1;
}
