/* Calls to other modules, directly and through a pointer: the linker makes all its kinds of PLT entries. */
extern int input(void);
extern void output(int);
extern int both(int);

int (*const pointer)(int) = both;
int (*volatile taken)(void);

int uses(int x)
{
	taken = input;
	output(x);
	return both(x) + input();
}
