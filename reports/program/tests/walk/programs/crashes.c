// Crashes on AArch64 without a C library, in the function that its first argument names.
#define NOINLINE __attribute__((noinline, noclone))

// In crashes.s.
extern long opened(long *), saved(long *), restored(long *), closed(long *), two_steps(long *);
extern long early_return(long *), on_one_path(long *), other_register(long *), aligned(long *), last_call(long *);

volatile long zero;

// A leaf function without a frame.
NOINLINE long leaf(long *place) { return *place; }

NOINLINE long not_a_leaf(long *place) { return leaf(place) + 1; }

// A frame of a size that no instruction can add at once, and one of a size that is known only at runtime.
NOINLINE long large(long *place) {
	volatile char bytes[70000];
	bytes[zero] = 1;
	return not_a_leaf(place) + bytes[zero];
}

NOINLINE long dynamic(long *place) {
	volatile char *bytes = __builtin_alloca(100 + zero);
	bytes[zero] = 1;
	return not_a_leaf(place) + bytes[zero];
}

NOINLINE long recurse(long depth, long function(long *)) {
	if (depth == 0)
		return function((long *)zero) + 1;
	return recurse(depth - 1, function) + depth;
}

void start(long *stack) {
	static const struct {
		const char *name;
		long (*function)(long *);
	} all[] = {
		{"leaf", leaf}, {"not_a_leaf", not_a_leaf}, {"large", large}, {"dynamic", dynamic},
		{"opened", opened}, {"saved", saved}, {"restored", restored}, {"closed", closed},
		{"two_steps", two_steps}, {"early_return", early_return}, {"on_one_path", on_one_path},
		{"other_register", other_register}, {"aligned", aligned},
		{"last_call", last_call},
	};
	const char *what = (const char *)stack[2];
	for (unsigned long number = 0; number < sizeof all / sizeof *all; number++) {
		const char *a = what, *b = all[number].name;
		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			zero = recurse(2, all[number].function);
	}
	for (;;)
		;
}
