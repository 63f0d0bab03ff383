/* The consumer runs in a forked process for each section, because it may overwrite its own memory, and then answers wrongly
   about the next one. If it crashes, the process that never ran it answers the request at hand, and forks again for the rest. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "survive.h"

bool is_surviving;

/* Where the forked process is: the line that it answers, and the last one that opened a section. */
struct progress {
  const char *line, *open;
  /* The number of answers before that line's. */
  size_t answers;
};

static volatile struct progress *progress;

/* The request that opened the section, if an earlier call had it. */
static char *opened;
/* The signal if the consumer crashed when it opened the section, so that there is nothing to look up. */
static int lost;

void *shared_memory(size_t length) {
  void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(3);
  }
  return memory;
}

static const char *after(const char *line, const char *end) {
  return (const char *)memchr(line, '\n', end - line) + 1;
}

/* No value of another request has the word. */
static bool is_open(const char *line, const char *end) {
  return memmem(line, end - line, "\"open\"", 6) != NULL;
}

static char *copy_of(const char *line, const char *end) {
  char *copy = malloc(end - line + 1);
  if (!copy)
    exit(3);
  memcpy(copy, line, end - line);
  copy[end - line] = '\0';
  return copy;
}

/* The forked process. */
static void answer_all(const char *line, const char *end) {
  write_answers();
  /* The section is opened again, unless the first request opens another one. */
  if (opened && !is_open(line, after(line, end)))
    answer_again(opened);
  while (line < end) {
    const char *next = after(line, end);
    progress->line = line;
    progress->answers = answer_count();
    if (is_open(line, next))
      progress->open = line;
    char *text = copy_of(line, next - 1);
    if (*text)
      answer_line(text);
    free(text);
    line = next;
  }
  write_answers();
  _exit(0);
}

/* Runs a process until it ends. Returns its signal, or 0. */
static int run(const char *line, const char *end) {
  int status;
  pid_t child = fork();
  if (child == 0)
    answer_all(line, end);
  if (child < 0 || waitpid(child, &status, 0) != child) {
    perror("fork");
    exit(3);
  }
  if (WIFSIGNALED(status))
    return WTERMSIG(status);
  if (WEXITSTATUS(status) != 0)
    exit(WEXITSTATUS(status));
  return 0;
}

/* Keeps the request with which the section at hand was opened, for the next process. */
static void keep_opened(const char *end) {
  if (!progress->open)
    return;
  free(opened);
  opened = copy_of(progress->open, after(progress->open, end) - 1);
  progress->open = NULL;
}

/* The first line after this one that opens a section. */
static const char *next_section(const char *line, const char *end) {
  do
    line = after(line, end);
  while (line < end && !is_open(line, after(line, end)));
  return line;
}

/* Answers the requests about one section until the consumer crashes. Returns the line at which it did so, or the end. The
   signal is 0 if that line was answered before, because freeing memory may find that the consumer has damaged it. */
static const char *answer_most(const char *line, const char *end, int *number) {
  lost = 0;
  progress->line = line;
  progress->answers = answer_count();
  *number = run(line, end);
  const char *crashed = *number ? progress->line : end;
  if (answer_count() != progress->answers)
    *number = 0;
  if (progress->open == crashed)
    lost = *number;
  keep_opened(end);
  return crashed;
}

static void survive_section(const char *line, const char *end) {
  while (line < end) {
    int number = lost;
    if (!lost || is_open(line, after(line, end)))
      line = answer_most(line, end, &number);
    if (line == end)
      return;
    if (number)
      answer_crashed(number);
    line = after(line, end);
  }
}

void survive_lines(const char *line, const char *end) {
  if (!progress)
    progress = shared_memory(sizeof *progress);
  while (line < end) {
    const char *next = next_section(line, end);
    survive_section(line, next);
    line = next;
  }
}
