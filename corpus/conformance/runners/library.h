/* libsframe as a reader under test. The library is loaded at run time, so that one program tests every release:
   libsframe.so.0 of binutils 2.40, libsframe.so.1 of 2.41 to 2.44, libsframe.so.3 since 2.46. No header is needed.

   SPDX-License-Identifier: CC0-1.0 */

#ifndef CONFORMANCE_LIBRARY_H
#define CONFORMANCE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row as the library stores it: a start, the words, an info byte. Larger than any row that a byte can count, because
   the library copies words before it tests their number. */
struct library_row {
  uint32_t start;
  unsigned char rest[188];
};

struct function {
  uint64_t start;
  uint32_t size, rows;
  unsigned char info, info2, repeat;
};

struct frame {
  char cfa[48], ra[48], fp[48];
  bool is_signed, is_outermost;
};

static void *library;
/* 0, 1 or 3. */
static int interface;
static void *section_bytes, *context;
static uint64_t section_address;
static unsigned version, abi, flags, function_count;
static int fixed_fp, fixed_ra;
/* The library's error for the last lookup. */
static int find_error;

static void *library_symbol(const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  return symbol;
}

#define CALL(type, name, ...) ((type)library_symbol("sframe_" name))(__VA_ARGS__)

static void library_load(const char *path) {
  library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  bool has_v2 = dlsym(library, "sframe_decoder_get_funcdesc_v2");
  bool has_v3 = dlsym(library, "sframe_decoder_get_funcdesc_v3");
  interface = has_v3 ? 3 : has_v2 ? 1 : 0;
}

static void library_close(void) {
  if (context)
    CALL(void (*)(void **), "decoder_free", &context);
  context = NULL;
  free(section_bytes);
  section_bytes = NULL;
}

/* The code with which the library refuses bytes, which stay where they are, or 0. */
static int library_decode(const unsigned char *bytes, size_t length, uint64_t address) {
  section_address = address;
  int error = 0;
  context = CALL(void *(*)(const unsigned char *, size_t, int *), "decode", bytes, length, &error);
  if (!context)
    return error ? error : -1;
  version = interface == 0 ? 1 : CALL(uint8_t (*)(void *), "decoder_get_version", context);
  flags = interface == 3 ? CALL(uint8_t (*)(void *), "decoder_get_flags", context) : bytes[3];
  abi = CALL(uint8_t (*)(void *), "decoder_get_abi_arch", context);
  fixed_fp = CALL(int8_t (*)(void *), "decoder_get_fixed_fp_offset", context);
  fixed_ra = CALL(int8_t (*)(void *), "decoder_get_fixed_ra_offset", context);
  function_count = CALL(uint32_t (*)(void *), "decoder_get_num_fidx", context);
  return 0;
}

/* The same for a copy of the bytes. Zeros follow, so that the answers of a library that reads too far are always the same. */
static int library_open(const unsigned char *bytes, size_t length, uint64_t address) {
  library_close();
  section_bytes = calloc(1, length + 0x10000);
  memcpy(section_bytes, bytes, length);
  return library_decode(section_bytes, length, address);
}

/* The address of a function's first byte: the library returns the stored value. */
static uint64_t library_start(unsigned index, int64_t stored) {
  uint64_t base = section_address;
  int error = 0;
  if (interface == 3 && flags & 4)
    base += CALL(uint32_t (*)(void *, uint32_t, int *), "decoder_get_offsetof_fde_start_addr", context, index, &error);
  return base + stored;
}

static bool library_function(unsigned index, struct function *found) {
  int32_t start = 0;
  int64_t wide = 0;
  int error;
  memset(found, 0, sizeof *found);
  if (version == 1) {
    typedef int get(void *, unsigned, uint32_t *, uint32_t *, int32_t *, unsigned char *);
    error = CALL(get *, "decoder_get_funcdesc", context, index, &found->rows, &found->size, &start, &found->info);
    wide = start;
  } else if (version == 2) {
    typedef int get(void *, unsigned, uint32_t *, uint32_t *, int32_t *, unsigned char *, uint8_t *);
    error = CALL(get *, "decoder_get_funcdesc_v2", context, index, &found->rows, &found->size, &start, &found->info,
                 &found->repeat);
    wide = start;
  } else {
    typedef int get(void *, unsigned, uint32_t *, uint32_t *, int64_t *, unsigned char *, unsigned char *, uint8_t *);
    error = CALL(get *, "decoder_get_funcdesc_v3", context, index, &found->rows, &found->size, &wide, &found->info,
                 &found->info2, &found->repeat);
  }
  found->start = library_start(index, wide);
  return error == 0;
}

static bool library_row(unsigned function, unsigned index, struct library_row *row) {
  memset(row, 0, sizeof *row);
  return CALL(int (*)(void *, unsigned, unsigned, struct library_row *), "decoder_get_fre", context, function, index,
              row) == 0;
}

/* PCs are relative to the section's start. Until binutils 2.44, they have 32 bits. */
static bool library_find(uint64_t pc, struct library_row *row) {
  int64_t relative = (int64_t)(pc - section_address);
  memset(row, 0, sizeof *row);
  find_error = 0;
  if (interface == 3)
    find_error = CALL(int (*)(void *, int64_t, struct library_row *), "find_fre", context, relative, row);
  else if (relative == (int32_t)relative)
    find_error = CALL(int (*)(void *, int32_t, struct library_row *), "find_fre", context, (int32_t)relative, row);
  else
    return false;
  return find_error == 0;
}

/* DWARF numbers by ABI: AArch64 in both byte orders, AMD64, s390x. */
static int stack_pointer(void) {
  static const int numbers[] = {0, 31, 31, 7, 15};
  return abi < 5 ? numbers[abi] : 0;
}

static int frame_pointer(void) {
  static const int numbers[] = {0, 29, 29, 6, 11};
  return abi < 5 ? numbers[abi] : 0;
}

/* An offset of the row; false if the library reports that it has none. */
static bool library_offset(const char *name, struct library_row *row, unsigned fde_type, int *offset) {
  char symbol[64];
  int error = 0;
  snprintf(symbol, sizeof symbol, "sframe_fre_get_%s_offset", name);
  if (interface == 3) {
    typedef int32_t get(void *, void *, uint32_t, int *);
    *offset = ((get *)library_symbol(symbol))(context, row, fde_type, &error);
  } else {
    typedef int32_t get(void *, void *, int *);
    *offset = ((get *)library_symbol(symbol))(context, row, &error);
  }
  return error == 0;
}

static bool library_flag(const char *name, struct library_row *row) {
  char symbol[64];
  int error = 0;
  typedef bool get(void *, void *, int *);
  snprintf(symbol, sizeof symbol, "sframe_fre_get_%s", name);
  return ((get *)library_symbol(symbol))(context, row, &error) && error == 0;
}

/* A word of a flexible row; false if the row has fewer. */
static bool library_control(struct library_row *row, int index, uint32_t *word) {
  int error = 0;
  *word = CALL(uint32_t (*)(void *, int, int *), "get_fre_udata", row, index, &error);
  return error == 0;
}

static void put_slot(char *text, int offset) {
  snprintf(text, 48, "*(cfa%+d)", offset);
}

static void put_rule(char *text, uint32_t control, int offset) {
  char plain[40];
  if (control & 1)
    snprintf(plain, sizeof plain, "r%u%+d", control >> 3, offset);
  else
    snprintf(plain, sizeof plain, "cfa%+d", offset);
  snprintf(text, 48, control & 2 ? "*(%s)" : "%s", plain);
}

/* A slot or, on s390x in version 2, a register: `SFRAME_V2_S390X_OFFSET_IS_REGNUM` is the caller's work. */
static void put_saved(char *text, int offset) {
  if (abi == 4 && version == 2 && offset & 1)
    snprintf(text, 48, "r%d+0", offset >> 1);
  else
    put_slot(text, offset);
}

/* Where RA and FP are unless the row says otherwise. The library of 2.40 leaves this to its caller. */
static void put_fixed(struct frame *frame) {
  strcpy(frame->ra, "unchanged");
  strcpy(frame->fp, "unchanged");
  if (fixed_ra)
    put_slot(frame->ra, fixed_ra);
  if (fixed_fp)
    put_slot(frame->fp, fixed_fp);
}

static bool default_frame(struct library_row *row, struct frame *frame) {
  int offset, error = 0;
  if (!library_offset("cfa", row, 0, &offset))
    return false;
  int base = CALL(uint8_t (*)(void *, int *), "fre_get_base_reg_id", row, &error) ? stack_pointer() : frame_pointer();
  snprintf(frame->cfa, sizeof frame->cfa, "r%d%+d", base, offset);
  put_fixed(frame);
  if (library_offset("ra", row, 0, &offset) && !(abi == 4 && offset == 0))
    put_saved(frame->ra, offset);
  if (library_offset("fp", row, 0, &offset))
    put_saved(frame->fp, offset);
  return error == 0;
}

static bool flexible_frame(struct library_row *row, struct frame *frame) {
  uint32_t control;
  int offset, next = 4;
  if (!library_control(row, 0, &control) || !library_offset("cfa", row, 1, &offset))
    return false;
  put_rule(frame->cfa, control, offset);
  put_fixed(frame);
  if (library_control(row, 2, &control)) {
    if (control == 0)
      next = 3;
    else if (library_offset("ra", row, 1, &offset))
      put_rule(frame->ra, control, offset);
  }
  if (library_control(row, next, &control) && library_offset("fp", row, 1, &offset))
    put_rule(frame->fp, control, offset);
  return true;
}

/* The meaning of a row; false if the library reports that it has none. */
static bool library_frame(struct library_row *row, unsigned fde_type, struct frame *frame) {
  memset(frame, 0, sizeof *frame);
  frame->is_outermost = interface == 3 && library_flag("ra_undefined_p", row);
  if (frame->is_outermost)
    return true;
  frame->is_signed = library_flag("ra_mangled_p", row);
  return fde_type == 1 ? flexible_frame(row, frame) : default_frame(row, frame);
}

/* The FDE type of the function that covers a PC: `sframe_find_fre` does not return it. */
static unsigned library_type_at(uint64_t pc) {
  struct function function;
  for (unsigned index = 0; interface == 3 && index < function_count; index++)
    if (library_function(index, &function) && pc - function.start < function.size)
      return function.info2 & 0x1f;
  return 0;
}

#endif
