// Crashes on AArch64 with a C library, with the stack that its first argument names.
#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096ul
#define BAD 0x10ul

volatile int zero, sink;
int *volatile null;

NOINLINE int leaf(int *place) { return *place; }

NOINLINE int recurse(int depth, int *place) {
	if (depth == 0)
		return leaf(place) + 1;
	return recurse(depth - 1, place) + depth + zero;
}

static void handler(int signal) { sink = recurse(3, null) + signal; }

NOINLINE void handled(void) {
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	sink = 1;
}

// qemu maps the new stack above the first one: the walk leads to lower addresses.
NOINLINE void on_other_stack(void) {
	size_t size = 1 << 16;
	void *stack = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t other = {.ss_sp = stack, .ss_size = size};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaltstack(&other, 0);
	sigaction(SIGUSR1, &action, 0);
	raise(SIGUSR1);
	sink = 1;
}

// The handler interrupts a leaf function at the instruction that faults.
NOINLINE void faults(void) {
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER | SA_RESETHAND};
	sigaction(SIGSEGV, &action, 0);
	sink = leaf(null);
}

// The call of abort is the last instruction of `die`: its return address is in the next function.
NOINLINE __attribute__((noreturn)) void die(void) { abort(); }
NOINLINE void after(char *text) { sink = text[0] + text[1] + text[2] + text[3] + text[4] * sink; }
NOINLINE int dies(int depth) {
	if (depth)
		return dies(depth - 1) + 1;
	die();
}

// The C library calls back.
NOINLINE int compare(const void *a, const void *b) { return recurse(1, null) + (a < b); }
NOINLINE void sorts(void) {
	int all[] = {3, 1, 2};
	qsort(all, 3, sizeof *all, compare);
	sink = all[0];
}

// Only here is getppid called: its stub has not been used before.
NOINLINE int by_stub(void) { return getppid() + 1; }

#ifdef LINKED
extern Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

static unsigned long dynamic(long tag) {
	for (Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_ptr;
	return 0;
}

// The place that the first stub of a function loads.
static unsigned long *first_entry(void) { return (unsigned long *)(dynamic(DT_PLTGOT) + 24); }

// The stub itself crashes: what it loads is made inaccessible. The table's head is in another page, with the dynamic section.
NOINLINE void in_stub(void) {
	mprotect((void *)((unsigned long)first_entry() & -PAGE), PAGE, PROT_NONE);
	sink = by_stub();
}

// The stubs jump to an address without code.
NOINLINE void to_bad_entry(void) {
	for (unsigned long number = 0; number < dynamic(DT_PLTRELSZ) / sizeof(Elf64_Rela); number++)
		first_entry()[number] = BAD;
	sink = by_stub();
}

// The dynamic linker crashes when it is asked for the function: it receives a bad pointer to its data about this file.
NOINLINE void in_resolver(void) {
	unsigned long *table = first_entry() - 3;
	mprotect((void *)((unsigned long)table & -PAGE), PAGE, PROT_READ | PROT_WRITE);
	table[1] = BAD;
	sink = by_stub();
}

// The stub that leads to the dynamic linker crashes after it has saved registers. Its address is in the table as long as a
// function has not been called; the other addresses there are in the C library.
NOINLINE void in_first_stub(void) {
	unsigned long *entry = first_entry();
	while (*entry - (unsigned long)by_stub + 16 * PAGE > 32 * PAGE)
		entry++;
	unsigned *code = (unsigned *)*entry;
	mprotect((void *)(*entry & -PAGE), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	code[3] = 0;
	__builtin___clear_cache((char *)code, (char *)(code + 4));
	sink = by_stub();
}
#else
NOINLINE void in_first_stub(void) {}
NOINLINE void in_stub(void) {}
NOINLINE void to_bad_entry(void) {}
NOINLINE void in_resolver(void) {}
#endif

static atomic_int started;

NOINLINE long wait_for_ever(long depth) {
	if (depth)
		return wait_for_ever(depth - 1) + zero;
	started++;
	for (;;)
		pause();
}

static void *waiting(void *depth) { return (void *)wait_for_ever((long)depth); }

static void *crash(void *place) {
	while (started < 3)
		usleep(1000);
	usleep(100000);
	sink = recurse(4, place);
	return 0;
}

NOINLINE void threads(void) {
	pthread_t thread;
	for (long number = 1; number < 4; number++)
		pthread_create(&thread, 0, waiting, (void *)number);
	pthread_create(&thread, 0, crash, 0);
	pthread_join(thread, 0);
}

int main(int count, char **arguments) {
	static const struct {
		const char *name;
		void (*function)(void);
	} all[] = {
		{"handler", handled}, {"other-stack", on_other_stack}, {"fault", faults}, {"sort", sorts}, {"stub", in_stub}, {"entry", to_bad_entry},
		{"resolver", in_resolver}, {"first-stub", in_first_stub}, {"threads", threads},
	};
	const char *what = count > 1 ? arguments[1] : "";
	if (strcmp(what, "abort") == 0)
		sink = dies(2);
	if (strcmp(what, "deep") == 0)
		sink = recurse(2000, null);
	for (unsigned long number = 0; number < sizeof all / sizeof *all; number++)
		if (strcmp(what, all[number].name) == 0)
			all[number].function();
	return sink + 1;
}
