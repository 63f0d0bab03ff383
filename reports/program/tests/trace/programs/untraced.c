/* A child that cannot be traced. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    long child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    /* One that is traced. */
    if (fork() == 0)
        _exit(0);
    while (wait(NULL) > 0)
        ;
    return child < 0;
}
