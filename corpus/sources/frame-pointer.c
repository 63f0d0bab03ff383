/* Compiled with a frame pointer: the CFA's base changes from SP to FP and back. */
extern int input(void);
extern void fill(int *values, int count);

int frame(void)
{
	int values[8];
	fill(values, 8);
	return values[0] + values[7] + input();
}

int deeper(int depth)
{
	return depth ? deeper(depth - 1) + frame() : input();
}
