/* What a shim implements, and the answers that it gives. `protocol.c` reads the requests of the line protocol
   (../../conformance/README.md) and calls the shim; each of the shim's three functions gives exactly one answer. */

#ifndef CONSUMERS_PROTOCOL_H
#define CONSUMERS_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct section {
  /* `amd64`, `aarch64`, `aarch64_be` or `s390x`; `little` or `big`. */
  char machine[16], byte_order[8];
  uint64_t address;
  /* The addresses of the code that the section is registered for; all of them if the request does not say. */
  uint64_t text_start, text_end;
  /* The bytes end where a page without access begins. */
  unsigned char *bytes;
  size_t length;
};

enum { REGISTERS = 64, SEGMENTS = 16, LONGEST_SEGMENT = 4096 };

/* A part of the memory in which a stack is walked. */
struct segment {
  uint64_t address;
  size_t length;
  unsigned char bytes[LONGEST_SEGMENT];
};

struct walk {
  uint64_t pc;
  uint64_t registers[REGISTERS];
  bool is_known[REGISTERS];
  size_t segments;
  struct segment memory[SEGMENTS];
};

/* The meaning of a row, as the protocol writes it. */
struct found_frame {
  char cfa[48], ra[48], fp[48];
  /* Whether the return address is signed: 0, 1, or -1 if the consumer does not say. */
  int is_signed;
  bool is_outermost;
};

/* The shim's part. The section stays where it is until the next one is opened. A shim without arguments has no
   `consumer_start`. */
void consumer_start(char **arguments) __attribute__((weak));
/* Whether the consumer was made to read sections of this version, with these flags, on this machine. */
bool consumer_reads(unsigned version, unsigned flags);
void consumer_open(const struct section *section);
void consumer_lookup(uint64_t pc);
void consumer_walk(const struct walk *walk);

/* The section that was opened last, and DWARF's numbers of its machine's registers. */
extern struct section section;
int stack_pointer(void);
int frame_pointer(void);
bool is_little_endian(void);

/* Answers. `then` is what the consumer does next, or NULL; `code` is the consumer's own error, or 0. */
void answer_opened(const char *format, ...) __attribute__((format(printf, 1, 2)));
void answer_refused(int code, const char *then, const char *reason);
void answer_unsupported(const char *reason);
void answer_nothing(int code, const char *then);
void answer_frame(const struct found_frame *frame, const uint64_t *function);
/* For a consumer whose interface does not say how a row is to be read: its likely reading, or why it has no meaning then,
   and the other reading. Either frame may be NULL. */
void answer_readings(const struct found_frame *frame, const char *refusal, const struct found_frame *otherwise);

/* An answer in parts. It is complete after `end_answer`. */
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void end_answer(void);

/* Parts of frames: `r7+8`, `*(cfa-16)`, the value that the register has. */
void write_base(char *text, int base, int64_t offset);
void write_slot(char *text, int64_t offset);
void write_unchanged(char *text);

/* The walked frames, innermost first. */
void begin_walk(void);
void put_walked(uint64_t pc);
void put_walked_registers(uint64_t pc, uint64_t sp, uint64_t fp);
/* `end` is `outermost`, `uncovered`, `error`, or NULL if the consumer does not distinguish them. */
void end_walk(const char *end, const char *then);

/* Reads the memory of a walk; false if a byte is not part of it. */
bool read_memory(const struct walk *walk, uint64_t address, void *to, size_t length);
/* Puts the section and the memory of a walk at their own addresses, until `unmap_all`. False if that is impossible. */
bool map_walk(const struct walk *walk);
bool map_zeros(uint64_t address);
void unmap_all(void);

#ifdef __cplusplus
}
#endif

#endif
