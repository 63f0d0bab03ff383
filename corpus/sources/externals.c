/* Calls to other modules, directly and through a pointer: the linker makes PLT entries of every kind it has. */
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
