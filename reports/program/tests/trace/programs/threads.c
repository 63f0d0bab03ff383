// Threads that wait for each other, and one that is cancelled.
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

APART int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
static void *runs(void *number) {
    long mine = (long)number;
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (turn % 3 != mine) pthread_cond_wait(&changed, &lock);
        turn += work(2);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return number;
}
static void *waits(void *nothing) { for (;;) pause(); return nothing; }

int main(void) {
    pthread_t threads[3], waiter;
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, runs, (void *)i);
    pthread_create(&waiter, NULL, waits, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, NULL);
    return turn == 9 ? 0 : 1;
}
