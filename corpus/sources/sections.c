/* One section for each function: the linker's garbage collection keeps only `kept` and the functions that it calls. */
extern int input(void);

int callee(int x) { return input() + x; }
int dropped_first(int x) { return callee(x) + input(); }
int kept(int x) { return callee(x) * 3; }
int dropped_last(int x) { return dropped_first(x) + 1; }
