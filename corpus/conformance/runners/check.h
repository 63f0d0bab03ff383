/* Compares libsframe's answers with those of vectors. Each vector is read in a process of its own, because the library
   may crash.

   SPDX-License-Identifier: CC0-1.0 */

#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "library.h"

enum { PASS, FAIL, UNSUPPORTED };

static int hex_digit(char digit) {
  return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

static int open_section(const struct json *section) {
  const char *hex = json_get_text(section, "hex");
  size_t length = strlen(hex) / 2;
  unsigned char *bytes = malloc(length ? length : 1);
  for (size_t i = 0; i < length; i++)
    bytes[i] = hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]);
  int error = library_open(bytes, length, json_get_address(section, "address"));
  free(bytes);
  return error;
}

/* Each release reads some versions: 2.40 version 1; 2.41 to 2.44 version 2 without its first erratum, which added s390x
   and PC-relative starts; 2.46 and later versions 2 and 3. A section that is too short, or has another magic number, is
   everyone's. */
static bool is_supported(const struct json *section) {
  const char *hex = json_get_text(section, "hex");
  if (strlen(hex) < 10 || (strncmp(hex, "e2de", 4) != 0 && strncmp(hex, "dee2", 4) != 0))
    return true;
  int number = hex_digit(hex[4]) << 4 | hex_digit(hex[5]), bits = hex_digit(hex[7]);
  if (number < 1 || number > 3)
    return true;
  if (interface == 3)
    return number > 1;
  return number == interface + 1 && !(bits & 4) && strcmp(json_get_text(section, "machine"), "s390x") != 0;
}

static bool find_frame(uint64_t pc, struct frame *frame) {
  struct library_row row;
  return library_find(pc, &row) && library_frame(&row, library_type_at(pc), frame);
}

/* Whether a frame is an expected one, which is null if there is none. */
static bool is_frame(const struct json *expected, const struct frame *found) {
  if (expected->kind == NOTHING || !found)
    return expected->kind == NOTHING && !found;
  if (strcmp(json_get_text(expected, "ra"), "undefined") == 0)
    return found->is_outermost;
  return !found->is_outermost && strcmp(json_get_text(expected, "cfa"), found->cfa) == 0 &&
         strcmp(json_get_text(expected, "ra"), found->ra) == 0 &&
         strcmp(json_get_text(expected, "fp"), found->fp) == 0 &&
         json_get(expected, "signed")->is_true == found->is_signed;
}

static bool check_lookup(const struct json *lookup) {
  struct frame frame;
  const struct frame *found = find_frame(json_get_address(lookup, "pc"), &frame) ? &frame : NULL;
  bool is_right = is_frame(json_get(lookup, "frame"), found);
  const struct json *other = json_get(lookup, "or");
  for (other = other ? other->first : NULL; other; other = other->next)
    is_right |= is_frame(other, found);
  if (!is_right)
    printf("  at %s (%s): %s %s %s\n", json_get_text(lookup, "pc"), json_get_text(lookup, "why"),
           found ? found->cfa : "nothing", found ? found->ra : "", found ? found->fp : "");
  return is_right;
}

static bool check_function(unsigned index, const struct json *expected) {
  struct function function;
  bool is_right = library_function(index, &function) && function.start == json_get_address(expected, "start") &&
                  function.size == (uint32_t)json_get(expected, "size")->number;
  unsigned row_index = 0;
  for (const struct json *right = json_get(expected, "rows")->first; right && is_right; right = right->next) {
    struct library_row row;
    struct frame frame;
    is_right = library_row(index, row_index++, &row) && library_frame(&row, function.info2 & 0x1f, &frame) &&
               row.start == (uint32_t)json_get(right, "start")->number && is_frame(right, &frame);
  }
  is_right = is_right && row_index == function.rows;
  if (!is_right)
    printf("  function %u\n", index);
  return is_right;
}

static int check_malformed(const struct json *expect, bool is_refused) {
  int verdict = PASS;
  struct frame frame;
  for (const struct json *pc = json_get(expect, "refuse")->first; pc && !is_refused; pc = pc->next)
    if (find_frame(strtoull(pc->text, NULL, 16), &frame)) {
      printf("  accepted: at %s\n", pc->text);
      verdict = FAIL;
    }
  return verdict;
}

static int check_sound(const struct json *expect, int error) {
  int verdict = PASS;
  if (error) {
    const struct json *may = json_get(expect, "may_refuse");
    printf("  refused: %d\n", error);
    return may && may->is_true ? PASS : FAIL;
  }
  unsigned index = 0;
  const struct json *part = json_get(expect, "functions");
  for (part = part ? part->first : NULL; part; part = part->next)
    verdict |= !check_function(index++, part);
  for (part = json_get(expect, "lookups")->first; part; part = part->next)
    verdict |= !check_lookup(part);
  /* The library walks no stacks. */
  bool has_walks = json_get(expect, "walks") && json_get(expect, "walks")->first;
  return verdict == PASS && has_walks ? UNSUPPORTED : verdict;
}

static int check_vector(const struct json *vector) {
  const struct json *section = json_get(vector, "section"), *expect = json_get(vector, "expect");
  if (!is_supported(section))
    return UNSUPPORTED;
  int error = open_section(section);
  if (strcmp(json_get_text(vector, "kind"), "malformed") == 0)
    return check_malformed(expect, error != 0);
  return check_sound(expect, error);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  size_t size = 1 << 20;
  char *text = malloc(size + 1);
  if (!file) {
    perror(path);
    exit(3);
  }
  text[fread(text, 1, size, file)] = '\0';
  fclose(file);
  return text;
}

static int check_in_process(const struct json *vector) {
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    int verdict = check_vector(vector);
    fflush(stdout);
    _exit(verdict);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return FAIL;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  printf("  crashed: signal %d\n", WTERMSIG(status));
  return FAIL;
}

/* Prints a verdict for each vector; true if none fails. */
static bool check_vectors(char **paths) {
  static const char *const verdicts[] = {"pass", "fail", "unsupported"};
  int counts[3] = {0};
  for (; *paths; paths++) {
    const struct json *vector = json_parse(read_file(*paths));
    int verdict = check_in_process(vector);
    verdict = verdict > UNSUPPORTED ? FAIL : verdict;
    counts[verdict]++;
    printf("%s: %s\n", json_get_text(vector, "name"), verdicts[verdict]);
  }
  printf("%d pass, %d fail, %d unsupported\n", counts[PASS], counts[FAIL], counts[UNSUPPORTED]);
  return counts[FAIL] == 0;
}

#endif
