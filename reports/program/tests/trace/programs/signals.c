// Signal handlers: on the same stack, on another one, inside of each other, left by a jump, during a system call.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile int count;
static sigjmp_buf place;
static char stack[1 << 16];

APART int work(int n) { return n * 2 + 1; }
static void inner(int signal) { (void)signal; count += work(count); }
static void outer(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    raise(SIGUSR2);
    count++;
}
static void leaves(int signal) { (void)signal; siglongjmp(place, 1); }
static void fault(int signal) { (void)signal; siglongjmp(place, 2); }
APART int faults(volatile int *address) { return *address; }
APART void when(int signal, void *handler, int flags) {
    struct sigaction action = {.sa_flags = flags};
    action.sa_sigaction = handler;
    sigaction(signal, &action, NULL);
}

int main(void) {
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    when(SIGUSR1, outer, SA_SIGINFO);
    when(SIGUSR2, inner, 0);
    raise(SIGUSR1);
    when(SIGUSR1, outer, SA_SIGINFO | SA_ONSTACK);
    kill(getpid(), SIGUSR1);
    when(SIGRTMIN, inner, SA_RESTART);
    raise(SIGRTMIN);
    when(SIGALRM, inner, SA_RESTART);
    // Blocked, so that it arrives in the system call, however slow the program is.
    sigset_t alarm, old;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, &old);
    int before = count;
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    while (count == before) sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    when(SIGALRM, leaves, 0);
    if (sigsetjmp(place, 1) == 0) raise(SIGALRM);
    when(SIGSEGV, fault, SA_ONSTACK);
    if (sigsetjmp(place, 1) == 0) faults(NULL);
    return work(count) > 0 ? 0 : 1;
}
