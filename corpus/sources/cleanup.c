/* A function that exceptions pass through: a landing pad and a personality routine, in C. */
extern void acquire(int *);
extern void release(int *);
extern void may_throw(int);

void guarded(int x)
{
	int resource __attribute__((cleanup(release)));
	acquire(&resource);
	may_throw(x);
	may_throw(resource);
}
