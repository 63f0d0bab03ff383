/* Calls that keep values in saved registers: a row for each push and pop, and an early return in the middle. */
extern int input(void);
extern void output(int);

int through(int a, int b, int c)
{
	if (a == b)
		return c;
	int first = input(), second = input(), third = input();
	output(a + first);
	output(b + second);
	output(c + third);
	return first + second + third + a + b + c;
}

int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	output(a + b);
	return through(a + e, b + f, c + g) + through(d, h, input());
}
