/* Calls through a pointer, which -mindirect-branch=thunk replaces by calls of a retpoline. */
volatile int number;

__attribute__((noinline)) void count(void) { number++; }

int main(void) {
    void (*volatile pointer)(void) = count;
    for (int i = 0; i < 3; i++) pointer();
    return number;
}
