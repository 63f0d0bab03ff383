/* glibc's reader (sframe-read.c), its tracer (sframe.c) and `backtrace` (backtrace.c), which falls back to DWARF. */

#include <sframe-read.h>

#include "../protocol.h"
#include "ldsodefs.h"

enum { MOST_FRAMES = 64 };

#define DWARF "redoes the whole trace with DWARF"

int __backtrace(void **array, int size);

static sframe_decoder_ctx decoder;
static bool is_open;

/* What happens in a walk: the PCs that the tracer looks up, and whether DWARF is asked. */
static uint64_t looked_up[MOST_FRAMES + 1];
static int lookups;
static bool asks_dwarf;
static const struct walk *walked;

bool consumer_reads(unsigned version, unsigned flags) {
  (void)flags;
  return version == 2 && is_little_endian();
}

void consumer_open(const struct section *section) {
  is_open = false;
  memset(&decoder, 0, sizeof decoder);
  _Unwind_Reason_Code code = __sframe_decode(&decoder, (const char *)section->bytes);
  if (code != _URC_NO_REASON) {
    answer_refused(code, DWARF, "__sframe_decode");
    return;
  }
  is_open = true;
  const sframe_header *header = &decoder.sfd_header;
  answer_opened("\"header\": {\"version\": %u, \"flags\": %u, \"abi_arch\": %u, \"cfa_fixed_fp_offset\": %d, "
                "\"cfa_fixed_ra_offset\": %d, \"num_fdes\": %u}",
                header->sfh_preamble.sfp_version, header->sfh_preamble.sfp_flags, header->sfh_abi_arch,
                header->sfh_cfa_fixed_fp_offset, header->sfh_cfa_fixed_ra_offset, header->sfh_num_fdes);
}

/* In the order of `__stacktrace_sframe`. */
static _Unwind_Reason_Code find(uint64_t pc, struct found_frame *frame) {
  sframe_frame_row_entry row;
  _Unwind_Reason_Code code = __sframe_find_fre(&decoder, pc - section.address, &row);
  if (code != _URC_NO_REASON)
    return code;
  int32_t offset = __sframe_fre_get_cfa_offset(&decoder, &row, &code);
  if (code != _URC_NO_REASON)
    return code;
  bool is_sp = __sframe_fre_get_base_reg_id(&row) == SFRAME_BASE_REG_SP;
  write_base(frame->cfa, is_sp ? stack_pointer() : frame_pointer(), offset);
  offset = __sframe_fre_get_ra_offset(&decoder, &row, &code);
  if (code != _URC_NO_REASON)
    return code;
  write_slot(frame->ra, offset);
  offset = __sframe_fre_get_fp_offset(&decoder, &row, &code);
  if (code == _URC_NO_REASON)
    write_slot(frame->fp, offset);
  else
    write_unchanged(frame->fp);
  return _URC_NO_REASON;
}

void consumer_lookup(uint64_t pc) {
  struct found_frame frame = {.is_signed = -1};
  _Unwind_Reason_Code code = is_open ? find(pc, &frame) : _URC_END_OF_STACK;
  if (code == _URC_NO_REASON)
    answer_frame(&frame, NULL);
  else
    answer_nothing(code, DWARF);
}

/* One object, which covers all addresses. The page of code is zero, so that it is not a signal trampoline. */
int shim_dl_find_object(void *address, struct dl_find_object *result) {
  if (lookups <= MOST_FRAMES)
    looked_up[lookups++] = (uintptr_t)address;
  map_zeros((uintptr_t)address);
  result->dlfo_flags = DLFO_FLAG_SFRAME;
  result->dlfo_sframe = (void *)section.address;
  return 0;
}

_Unwind_Ptr __getPC(void) {
  return walked->pc;
}

_Unwind_Ptr __getSP(void) {
  return walked->registers[stack_pointer()];
}

uintptr_t shim_frame_pointer(void) {
  return walked->registers[frame_pointer()];
}

_Unwind_Reason_Code shim_dwarf_backtrace(_Unwind_Trace_Fn function, void *argument) {
  (void)function;
  (void)argument;
  asks_dwarf = true;
  return _URC_NO_REASON;
}

/* The caller's PC is where the lookup was made, and the last frame of a complete trace is looked up as well. */
static void answer_walked(void) {
  begin_walk();
  for (int i = 0; i < lookups; i++)
    put_walked(looked_up[i]);
  end_walk(asks_dwarf ? NULL : "outermost", asks_dwarf ? DWARF : "returns the frames");
}

void consumer_walk(const struct walk *walk) {
  static void *addresses[MOST_FRAMES];
  if (!is_open || strcmp(section.machine, "amd64") != 0 || !map_walk(walk)) {
    unmap_all();
    answer_unsupported("a walk of another machine than amd64, of a refused section, or at such addresses");
    return;
  }
  walked = walk;
  lookups = 0;
  asks_dwarf = false;
  __backtrace(addresses, MOST_FRAMES);
  answer_walked();
  unmap_all();
}
