/* With `--survive`, a crash of the consumer is an answer, and no section can spoil the answers about the next one. */

#ifndef CONSUMERS_SURVIVE_H
#define CONSUMERS_SURVIVE_H

#include <stdbool.h>
#include <stddef.h>

extern bool is_surviving;

/* Answers complete lines, those about each section in a process of its own. */
void survive_lines(const char *lines, const char *end);

/* Memory that this process shares with those that it forks. */
void *shared_memory(size_t length);

/* The protocol's part. */
void answer_line(const char *line);
/* The same without writing the answer. */
void answer_again(const char *line);
void answer_crashed(int number);
size_t answer_count(void);
void write_answers(void);

#endif
