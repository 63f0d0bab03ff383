/* Leaf functions: no frame, one row each. Some are shorter than a table entry, so their start fields decrease. */
int twice(int x) { return x * 2; }
int sum(const int *values, int count)
{
	int total = 0;
	while (count-- > 0)
		total += values[count];
	return total;
}
void nothing(void) {}
