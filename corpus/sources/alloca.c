/* Stack space whose size is known only at run time: the CFA must be based on the frame pointer. */
extern void fill(int *values, int count);

int on_stack(int count)
{
	int *values = __builtin_alloca(count * sizeof *values);
	fill(values, count);
	return values[count - 1];
}

/* A frame of more than 64 KiB, whose offsets need four bytes, and one whose offsets need two. */
int large(void)
{
	int values[30000];
	fill(values, 30000);
	return values[9];
}

int medium(void)
{
	int values[300];
	fill(values, 300);
	return values[9];
}
