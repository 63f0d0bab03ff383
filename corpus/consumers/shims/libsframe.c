/* libsframe LIBRARY: any release of libsframe, through the interface that ../../conformance/runners/library.h describes.
   The library walks no stacks. */

#include "../../conformance/runners/library.h"

#define stack_pointer machine_stack_pointer
#define frame_pointer machine_frame_pointer
#include "protocol.h"

void consumer_start(char **arguments) {
  library_load(arguments[0]);
}

/* 2.40 reads version 1; 2.41 to 2.44 version 2 without its first erratum, which added s390x and PC-relative starts; 2.46 and
   later versions 2 and 3. */
bool consumer_reads(unsigned number, unsigned bits) {
  if (interface == 3)
    return number > 1;
  return number == interface + 1u && !(bits & 4) && strcmp(section.machine, "s390x") != 0;
}

void consumer_open(const struct section *opened) {
  library_close();
  int error = library_decode(opened->bytes, opened->length, opened->address);
  if (error)
    answer_refused(error, NULL, "sframe_decode");
  else
    answer_opened("\"header\": {\"version\": %u, \"flags\": %u, \"abi_arch\": %u, \"cfa_fixed_fp_offset\": %d, "
                  "\"cfa_fixed_ra_offset\": %d, \"num_fdes\": %u}",
                  version, flags, abi, fixed_fp, fixed_ra, function_count);
}

/* A row as a function of that type has it; NULL if it has no meaning there. */
static const struct found_frame *reading(struct library_row *row, unsigned fde_type, struct found_frame *found) {
  struct frame frame;
  if (!library_frame(row, fde_type, &frame))
    return NULL;
  strcpy(found->cfa, frame.cfa);
  strcpy(found->ra, frame.ra);
  strcpy(found->fp, frame.fp);
  found->is_signed = frame.is_signed;
  found->is_outermost = frame.is_outermost;
  return found;
}

/* In version 3, functions have types, but a lookup does not say which function it found. The likely type is that of the first
   function at the PC. */
void consumer_lookup(uint64_t pc) {
  struct library_row row;
  struct found_frame likely, other;
  if (!context || !library_find(pc, &row)) {
    answer_nothing(context ? find_error : 0, NULL);
    return;
  }
  unsigned fde_type = library_type_at(pc);
  answer_readings(reading(&row, fde_type, &likely), "a row without an offset for the CFA",
                  version == 3 ? reading(&row, fde_type == 1 ? 0 : 1, &other) : NULL);
}

void consumer_walk(const struct walk *walk) {
  (void)walk;
  answer_unsupported("walks");
}
