/* Tests libsframe on the conformance vectors. Needs a C compiler and the vectors, nothing else.

       cc -O1 -o libsframe libsframe.c -ldl
       ./libsframe LIBRARY vectors/v2/2.4-rows/one-amd64.json ...   # a verdict for each vector
       ./libsframe LIBRARY                                          # answers the line protocol

   SPDX-License-Identifier: CC0-1.0 */

#define _GNU_SOURCE

#include <malloc.h>
#include <sys/personality.h>

#include "check.h"
#include "json.h"
#include "library.h"

/* The largest counts that are reported: the library searches for each row from the function's first. */
enum { MOST_FUNCTIONS = 1 << 10, MOST_ROWS = 1 << 12 };

static void print_frame(const struct frame *frame) {
  if (frame->is_outermost)
    printf("\"ra\": \"undefined\"");
  else
    printf("\"cfa\": \"%s\", \"ra\": \"%s\", \"fp\": \"%s\", \"signed\": %s", frame->cfa, frame->ra, frame->fp,
           frame->is_signed ? "true" : "false");
}

static void print_function(unsigned index) {
  struct function function;
  if (!library_function(index, &function))
    return;
  printf("%s{\"start\": \"%#llx\", \"size\": %u", index ? ", " : "", (unsigned long long)function.start, function.size);
  printf(", \"type\": \"%s\"", (function.info2 & 0x1f) == 1 ? "flex" : "default");
  printf(", \"repeat\": %u", function.info & 0x10 ? function.repeat : 0);
  printf(", \"signal\": %s", version == 3 && function.info & 0x80 ? "true" : "false");
  printf(", \"key\": \"%c\", \"rows\": [", function.info & 0x20 ? 'b' : 'a');
  for (unsigned row_index = 0; row_index < function.rows && row_index < MOST_ROWS; row_index++) {
    struct library_row row;
    struct frame frame;
    if (!library_row(index, row_index, &row) || !library_frame(&row, function.info2 & 0x1f, &frame))
      break;
    printf("%s{\"start\": %u, ", row_index ? ", " : "", row.start);
    print_frame(&frame);
    printf("}");
  }
  printf("]}");
}

static void answer_open(const struct json *section) {
  int error = open_section(section);
  if (error) {
    printf("{\"refused\": \"libsframe's error %d\"}\n", error);
    return;
  }
  printf("{\"opened\": {\"header\": {\"version\": %u, \"flags\": %u, \"abi_arch\": %u", version, flags, abi);
  printf(", \"cfa_fixed_fp_offset\": %d, \"cfa_fixed_ra_offset\": %d", fixed_fp, fixed_ra);
  printf(", \"num_fdes\": %u}, \"functions\": [", function_count);
  for (unsigned index = 0; index < function_count && index < MOST_FUNCTIONS; index++)
    print_function(index);
  printf("]}}\n");
}

static void answer_lookup(uint64_t pc) {
  struct frame frame;
  if (!find_frame(pc, &frame)) {
    printf("{\"found\": null}\n");
    return;
  }
  printf("{\"found\": {\"frame\": {");
  print_frame(&frame);
  printf("}}}\n");
}

static void serve(void) {
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 0) {
    const struct json *request = json_parse(line);
    const char *op = json_get_text(request, "op");
    if (strcmp(op, "open") == 0 && !is_supported(json_get(request, "section")))
      printf("{\"unsupported\": \"the version, or the flag for PC-relative starts\"}\n");
    else if (strcmp(op, "open") == 0)
      answer_open(json_get(request, "section"));
    else if (strcmp(op, "lookup") == 0)
      answer_lookup(json_get_address(request, "pc"));
    else
      printf("{\"unsupported\": \"walks\"}\n");
    fflush(stdout);
  }
  free(line);
}

/* The library reads memory after malformed sections. Without random addresses, and with all memory filled, its answers are
   the same each time. */
static void be_deterministic(char **words) {
  int persona = personality(0xffffffff);
  if (persona != -1 && !(persona & ADDR_NO_RANDOMIZE) && personality(persona | ADDR_NO_RANDOMIZE) != -1)
    execv("/proc/self/exe", words);
  mallopt(M_PERTURB, 0x5a);
}

int main(int count, char **words) {
  be_deterministic(words);
  if (count < 2) {
    fprintf(stderr, "libsframe LIBRARY [VECTOR...]\n");
    return 3;
  }
  library_load(words[1]);
  if (count == 2)
    serve();
  else
    return check_vectors(words + 2) ? 0 : 1;
  return 0;
}
