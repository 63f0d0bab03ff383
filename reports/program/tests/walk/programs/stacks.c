// Crashes, or waits for a debugger, with the stack that its first argument names.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

extern void in_prologue(void), in_body(void), in_epilogue(void), by_rbx(void);
extern void ends_with_call(void), misread(void), outer_rbx(void);
volatile int zero, sink;
int *volatile null;

NOINLINE int leaf(int *place) { return *place; }

NOINLINE int recurse(int depth, int *place) {
	if (depth == 0)
		return leaf(place) + 1;
	return recurse(depth - 1, place) + depth + zero;
}

// The compiler needs a frame pointer for these two.
NOINLINE int dynamic(int size) {
	char *bytes = alloca(size);
	memset(bytes, 1, size);
	return recurse(2, null) + bytes[size / 2];
}

NOINLINE int aligned(int size) {
	_Alignas(64) char bytes[64];
	memset(bytes, size, sizeof bytes);
	return dynamic(size) + bytes[zero];
}

static void handler(int signal) { sink = recurse(3, null) + signal; }

static void handle(int flags) {
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	sigaction(SIGUSR1, &action, 0);
}

static void on_other_stack(void) {
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&other, 0);
	handle(SA_ONSTACK);
	raise(SIGUSR1);
}

// Interrupts a function without calls at the instruction that faults.
static void handle_fault(void function(void)) {
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
	sigaction(SIGBUS, &action, 0);
	sigaction(SIGILL, &action, 0);
	function();
}

// The call of abort is the last instruction of `die`: its return address is in the next function.
NOINLINE __attribute__((noreturn)) void die(void) { abort(); }
NOINLINE void after(char *text) { sink = text[0] + text[1] + text[2] + text[3] + text[4] * sink; }
NOINLINE int dies(int depth) {
	if (depth)
		return dies(depth - 1) + 1;
	die();
}

// Calls an address without code.
NOINLINE static int call(int depth, int function(void)) {
	if (depth)
		return call(depth - 1, function) + 1;
	return function() + 1;
}

// The first instruction of the stub reads the GOT, which is made inaccessible.
static void in_stub(void) {
	extern char _GLOBAL_OFFSET_TABLE_[];
	unsigned long page = (unsigned long)_GLOBAL_OFFSET_TABLE_ & ~4095ul;
	mprotect((void *)page, 8192, PROT_NONE);
	getpid();
}

NOINLINE long wait_for_ever(long depth) {
	if (depth)
		return wait_for_ever(depth - 1) + zero;
	for (;;)
		pause();
}

static void *waiting(void *depth) { return (void *)wait_for_ever((long)depth); }

static void *crash(void *place) {
	usleep(100000);
	sink = recurse(4, place);
	return 0;
}

static void threads(void) {
	pthread_t thread;
	for (long number = 1; number < 4; number++)
		pthread_create(&thread, 0, waiting, (void *)number);
	pthread_create(&thread, 0, crash, 0);
	pthread_join(thread, 0);
}

// Large frames, so that the stack overflows soon.
NOINLINE int endless(int depth) {
	volatile char bytes[4000];
	bytes[0] = depth;
	return endless(depth + 1) + bytes[zero];
}

int main(int count, char **arguments) {
	const char *what = count > 1 ? arguments[1] : "";
#define IS(name) (strcmp(what, name) == 0)
	if (IS("leaf"))
		sink = recurse(3, null);
	else if (IS("dynamic"))
		sink = aligned(100);
	else if (IS("prologue"))
		in_prologue();
	else if (IS("body"))
		in_body();
	else if (IS("epilogue"))
		in_epilogue();
	else if (IS("rbx"))
		by_rbx();
	else if (IS("outer-rbx"))
		outer_rbx();
	else if (IS("last-call"))
		ends_with_call();
	else if (IS("misread"))
		misread();
	else if (IS("stub"))
		in_stub();
	else if (IS("null-call"))
		sink = call(2, (int (*)(void))null);
	else if (IS("data-call"))
		sink = call(2, (int (*)(void)) & sink);
	else if (IS("handler"))
		handle(0), raise(SIGUSR1);
	else if (IS("other-stack"))
		on_other_stack();
	else if (IS("fault"))
		handle_fault(in_prologue);
	else if (IS("fault-rbx"))
		handle_fault(by_rbx);
	else if (IS("abort"))
		sink = dies(2);
	else if (IS("deep"))
		sink = recurse(2000, null);
	else if (IS("endless"))
		sink = endless(0);
	else if (IS("threads"))
		threads();
	else if (IS("wait"))
		sink = wait_for_ever(5);
	return sink + 1;
}
