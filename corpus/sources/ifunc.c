/* An indirect function: a static program gets .iplt entries, which no linker describes. */
extern int input(void);

static int fast(void) { return input(); }
static int (*choose(void))(void) { return fast; }
int indirect(void) __attribute__((ifunc("choose")));

int use_indirect(void) { return indirect() + 1; }
