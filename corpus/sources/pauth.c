/* Return addresses are signed: SFrame records where, and with which key. */
#ifndef NAME
#define NAME key_a
#endif
#define JOIN(prefix, name) prefix##name
#define NAMED(prefix, name) JOIN(prefix, name)

extern int input(void);
extern void output(int);

int NAMED(return_, NAME)(int x)
{
	output(x);
	return input() + x;
}

int NAMED(frame_, NAME)(int count)
{
	int *values = __builtin_alloca(count * sizeof *values);
	for (int i = 0; i < count; i++)
		values[i] = input();
	output(values[0]);
	return values[count - 1];
}

int NAMED(simple_, NAME)(int x) { return x * x; }
