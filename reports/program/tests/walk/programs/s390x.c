// Crashes on s390x without a C library, with the stack that its first argument names.
#define NOINLINE __attribute__((noinline, noclone))

volatile int zero, sink;
int *volatile null;

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

NOINLINE void in_leaf(int *place) { *place = 1; }

void start(long *stack) {
	const char *what = stack[0] > 1 ? (const char *)stack[2] : "";
	switch (what[0]) {
	case 'l': in_leaf(null); break;
	case 'r': sink = recurse(3, null); break;
	case 'd': sink = dynamic(100); break;
	}
	for (;;)
		;
}

__asm__(".globl _start\n_start:\n\t.cfi_startproc\n\t.cfi_undefined r14\n\tlgr %r2, %r15\n\taghi %r15, -160\n\t.cfi_def_cfa_offset 320\n\tbrasl %r14, start\n\tj .\n\t.cfi_endproc");
