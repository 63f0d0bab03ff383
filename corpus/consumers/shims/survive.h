/* With `--survive`, a crash of the consumer is an answer, and the program goes on. */

#ifndef CONSUMERS_SURVIVE_H
#define CONSUMERS_SURVIVE_H

#include <stdbool.h>
#include <stddef.h>

extern bool is_surviving;

/* Answers complete lines, in processes of their own. */
void survive_lines(const char *lines, const char *end);

/* Memory that this process shares with those that it forks. */
void *shared_memory(size_t length);

/* The protocol's part. */
void answer_line(const char *line);
/* The same without writing the answer. */
void answer_again(const char *line);
void answer_crashed(int number);
void write_answers(void);

#endif
