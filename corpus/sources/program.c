/* The entry point, and everything else that the other sources need, because programs are linked without a C library. */
int input(void) { return 7; }
void output(int x) { static volatile int sink; sink = x; }
int both(int x) { output(x); return input(); }
void fill(int *values, int count) { while (count-- > 0) values[count] = count; }
void complain(int a, int b, int c) { output(a); output(b); output(c); }
void stop(int x) { output(x); for (;;) ; }
void acquire(int *x) { *x = input(); }
void release(int *x) { output(*x); }
void may_throw(int x) { output(x); }
void __gcc_personality_v0(void) {}
void _Unwind_Resume(void *x) { (void)x; stop(1); }

extern int through(int, int, int);

void _start(void)
{
	through(1, 2, 3);
	stop(0);
}
