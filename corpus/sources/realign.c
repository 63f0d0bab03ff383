/* A local variable with a larger alignment than the ABI's stack. On x86-64, the stack pointer is rounded down. If the function
   also has stack arguments, the CFA is based on another register, which SFrame 1 and 2 cannot express. */
extern void fill(int *values, int count);

int aligned(void)
{
	int values[16] __attribute__((aligned(64)));
	fill(values, 16);
	return values[3];
}

int aligned_and_sized(int count, int b, int c, int d, int e, int f, int on_stack)
{
	int values[16] __attribute__((aligned(64)));
	int sized[count];
	fill(values, 16);
	fill(sized, count);
	return values[3] + sized[b] + c + d + e + f + on_stack;
}
