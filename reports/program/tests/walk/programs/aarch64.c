// Crashes on AArch64 without a C library, with the stack that its first argument names.
#define NOINLINE __attribute__((noinline, noclone))

volatile int zero, sink;
int *volatile null;

static inline __attribute__((always_inline)) long system_call(long number, long a, long b, long c, long d) {
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

NOINLINE int leaf(int *place) { return *place; }

NOINLINE int recurse(int depth, int *place) {
	if (depth == 0)
		return leaf(place) + 1;
	return recurse(depth - 1, place) + depth + zero;
}

NOINLINE int dynamic(int size) {
	char *bytes = __builtin_alloca(size);
	for (int index = 0; index < size; index++)
		((volatile char *)bytes)[index] = index;
	return recurse(2, null) + bytes[size / 2];
}

static void handler(int signal) { sink = recurse(3, null) + signal; }

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

NOINLINE void handled(void) {
	static struct action action = {handler};
	system_call(134, 10, (long)&action, 0, 8);
	long self = system_call(172, 0, 0, 0, 0);
	system_call(129, self, 10, 0, 0);
	sink = 1;
}

NOINLINE void in_leaf(int *place) { *place = 1; }

NOINLINE int null_call(int function(void)) { return function() + 1; }

// In aarch64.s.
extern void by_x19(void);

void start(long *stack) {
	const char *what = stack[0] > 1 ? (const char *)stack[2] : "";
	switch (what[0]) {
	case 'l': in_leaf(null); break;
	case 'r': sink = recurse(3, null); break;
	case 'd': sink = dynamic(100); break;
	case 'h': handled(); break;
	case 'n': sink = null_call((int (*)(void))null); break;
	case 'x': by_x19(); break;
	}
	system_call(93, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\t.cfi_startproc\n\t.cfi_undefined x30\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl start\n\tbrk #0\n\t.cfi_endproc");
