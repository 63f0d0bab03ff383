// Child processes, and other programs.
#define _GNU_SOURCE
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

APART int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
APART int ends(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
APART int in_child(int n) { _exit(work(n)); }

int main(int count, char **arguments, char **environment) {
    if (count > 1) return work(strlen(arguments[1]));
    pid_t child = fork();
    if (child == 0) in_child(7);
    int sum = ends(child);
    child = vfork();
    if (child == 0) {
        execl(arguments[0], arguments[0], "four", NULL);
        _exit(99);
    }
    sum += ends(child);
    char *words[] = {arguments[0], "sixsix", NULL};
    posix_spawn(&child, arguments[0], NULL, NULL, words, environment);
    sum += ends(child);
    // 13 + 3 + 8
    if (sum != 24) return 1;
    execl(arguments[0], arguments[0], "five5", NULL);
    return 2;
}
