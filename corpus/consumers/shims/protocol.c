/* The line protocol: requests are read in large pieces and answered in order. Answers are written when no complete request
   is left, so that a caller may send thousands of them at once. */

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/personality.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../conformance/runners/json.h"
#include "place.h"
#include "protocol.h"
#include "survive.h"

/* Seconds of processor time for a request. After that the consumer hangs, and ends with SIGPROF. With `--survive`, which is for
   millions of requests that take microseconds each, it is a tenth of a second. */
enum { PATIENCE = 2 };
enum { INPUT = 1 << 26, OUTPUT = 1 << 23, LONGEST_ANSWER = 1 << 22, LARGE = 1 << 17 };

struct section section;

/* With `--score`, sections that the consumer was not made to read are unsupported, so that they do not count. */
static bool is_scored;

static char input[INPUT + 1], *output;
static size_t input_length;
/* The output, the part of it with complete answers, and the number of all answers. With `--survive`, processes share them. */
static volatile size_t *lengths;
#define output_length lengths[0]
#define complete lengths[1]
#define answers lengths[2]

void write_answers(void) {
  size_t done = 0;
  while (done < complete) {
    ssize_t count = write(STDOUT_FILENO, output + done, complete - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(3);
    done += count;
  }
  output_length = complete = 0;
}

void put(const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = vsnprintf(output + output_length, OUTPUT - output_length, format, values);
  va_end(values);
  if (length < 0 || output_length + length >= OUTPUT) {
    fprintf(stderr, "an answer is too long\n");
    exit(3);
  }
  output_length += length;
}

void end_answer(void) {
  put("\n");
  complete = output_length;
  answers++;
  if (complete > OUTPUT - LONGEST_ANSWER)
    write_answers();
}

/* An answer that the consumer did not live to complete. */
void answer_crashed(int number) {
  output_length = complete;
  put("{\"crashed\": %d}", number);
  end_answer();
}

static void put_consequence(int code, const char *then) {
  if (code)
    put(", \"code\": %d", code);
  if (then)
    put(", \"then\": \"%s\"", then);
}

void answer_opened(const char *format, ...) {
  char header[512];
  va_list values;
  va_start(values, format);
  vsnprintf(header, sizeof header, format, values);
  va_end(values);
  put("{\"opened\": {%s}}", header);
  end_answer();
}

void answer_refused(int code, const char *then, const char *reason) {
  put("{\"refused\": \"%s\"", reason);
  put_consequence(code, then);
  put("}");
  end_answer();
}

void answer_unsupported(const char *reason) {
  put("{\"unsupported\": \"%s\"}", reason);
  end_answer();
}

void answer_nothing(int code, const char *then) {
  put("{\"found\": null");
  put_consequence(code, then);
  put("}");
  end_answer();
}

static void put_frame(const struct found_frame *frame) {
  if (frame->is_outermost) {
    put("{\"ra\": \"undefined\"}");
    return;
  }
  put("{\"cfa\": \"%s\", \"ra\": \"%s\", \"fp\": \"%s\"", frame->cfa, frame->ra, frame->fp);
  if (frame->is_signed >= 0)
    put(", \"signed\": %s", frame->is_signed ? "true" : "false");
  put("}");
}

void answer_frame(const struct found_frame *frame, const uint64_t *function) {
  put("{\"found\": {");
  if (function)
    put("\"function\": \"%#llx\", ", (unsigned long long)*function);
  put("\"frame\": ");
  put_frame(frame);
  put("}}");
  end_answer();
}

void answer_readings(const struct found_frame *frame, const char *refusal, const struct found_frame *otherwise) {
  if (frame) {
    put("{\"found\": {\"frame\": ");
    put_frame(frame);
    put("}");
  } else {
    put("{\"refused\": \"%s\"", refusal);
  }
  if (otherwise) {
    put(", \"otherwise\": ");
    put_frame(otherwise);
  }
  put("}");
  end_answer();
}

void write_base(char *text, int base, int64_t offset) {
  snprintf(text, 48, "r%d%+lld", base, (long long)offset);
}

void write_slot(char *text, int64_t offset) {
  snprintf(text, 48, "*(cfa%+lld)", (long long)offset);
}

void write_unchanged(char *text) {
  strcpy(text, "unchanged");
}

static bool is_first_frame;

void begin_walk(void) {
  put("{\"walked\": {\"frames\": [");
  is_first_frame = true;
}

void put_walked(uint64_t pc) {
  put("%s{\"pc\": \"%#llx\"}", is_first_frame ? "" : ", ", (unsigned long long)pc);
  is_first_frame = false;
}

void put_walked_registers(uint64_t pc, uint64_t sp, uint64_t fp) {
  put("%s{\"pc\": \"%#llx\", \"sp\": \"%#llx\", \"fp\": \"%#llx\"}", is_first_frame ? "" : ", ", (unsigned long long)pc,
      (unsigned long long)sp, (unsigned long long)fp);
  is_first_frame = false;
}

void end_walk(const char *end, const char *then) {
  put("]");
  if (end)
    put(", \"end\": \"%s\"", end);
  put("}");
  put_consequence(0, then);
  put("}");
  end_answer();
}

static bool is_machine(const char *name) {
  return strcmp(section.machine, name) == 0;
}

int stack_pointer(void) {
  return is_machine("amd64") ? 7 : is_machine("s390x") ? 15 : 31;
}

int frame_pointer(void) {
  return is_machine("amd64") ? 6 : is_machine("s390x") ? 11 : 29;
}

bool is_little_endian(void) {
  return strcmp(section.byte_order, "little") == 0;
}

static int hex_digit(char digit) {
  return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

static void hex_bytes(const char *hex, unsigned char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    bytes[i] = hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]);
}

static void copy_name(char *to, size_t size, const char *name) {
  snprintf(to, size, "%s", name);
}

/* A section that is too short, or has another magic number or version, is everyone's. */
static bool is_meant_for_consumer(void) {
  const unsigned char *bytes = section.bytes;
  bool has_magic = section.length > 3 && ((bytes[0] == 0xe2 && bytes[1] == 0xde) || (bytes[0] == 0xde && bytes[1] == 0xe2));
  return !has_magic || bytes[2] < 1 || bytes[2] > 3 || consumer_reads(bytes[2], bytes[3]);
}

static void open_section(const struct json *request) {
  const struct json *opened = json_get(request, "section");
  const char *hex = json_get_text(opened, "hex");
  copy_name(section.machine, sizeof section.machine, json_get_text(opened, "machine"));
  copy_name(section.byte_order, sizeof section.byte_order, json_get_text(opened, "byte_order"));
  section.address = json_get_address(opened, "address");
  section.text_start = json_get(opened, "text_start") ? json_get_address(opened, "text_start") : 1;
  section.text_end = json_get(opened, "text_end") ? json_get_address(opened, "text_end") : UINT64_MAX;
  section.length = strlen(hex) / 2;
  section.bytes = place_before_guard(section.length);
  hex_bytes(hex, section.bytes, section.length);
  if (is_scored && !is_meant_for_consumer())
    answer_unsupported("the version, the machine or a flag");
  else
    consumer_open(&section);
}

static bool get_segment(const struct json *part, struct segment *segment) {
  const char *hex = json_get_text(part, "hex");
  segment->address = json_get_address(part, "address");
  segment->length = strlen(hex) / 2;
  if (segment->length > LONGEST_SEGMENT)
    return false;
  hex_bytes(hex, segment->bytes, segment->length);
  return true;
}

static bool get_walk(const struct json *request, struct walk *walk) {
  memset(walk->is_known, 0, sizeof walk->is_known);
  walk->pc = json_get_address(request, "pc");
  walk->segments = 0;
  const struct json *part = json_get(request, "registers");
  for (part = part ? part->first : NULL; part; part = part->next) {
    unsigned long number = strtoul(part->name, NULL, 10);
    if (number >= REGISTERS || part->kind != TEXT)
      return false;
    walk->registers[number] = strtoull(part->text, NULL, 16);
    walk->is_known[number] = true;
  }
  part = json_get(request, "memory");
  for (part = part ? part->first : NULL; part; part = part->next)
    if (walk->segments == SEGMENTS || !get_segment(part, &walk->memory[walk->segments++]))
      return false;
  return true;
}

static void answer(struct json *request) {
  static struct walk walk;
  const char *op = json_get_text(request, "op");
  if (strcmp(op, "open") == 0)
    open_section(request);
  else if (!section.bytes)
    answer_unsupported("no section is open");
  else if (strcmp(op, "lookup") == 0)
    consumer_lookup(json_get_address(request, "pc"));
  else if (strcmp(op, "walk") == 0 && get_walk(request, &walk))
    consumer_walk(&walk);
  else
    answer_unsupported("the request");
}

static void be_patient(void) {
  struct itimerval limit = {.it_value.tv_sec = PATIENCE};
  if (is_surviving)
    limit.it_value = (struct timeval){.tv_usec = 100000};
  setitimer(ITIMER_PROF, &limit, NULL);
}

void answer_line(const char *line) {
  be_patient();
  struct json *request = json_parse(line);
  answer(request);
  json_free(request);
}

size_t answer_count(void) {
  return answers;
}

/* An answer that was given before. */
void answer_again(const char *line) {
  answer_line(line);
  output_length = complete = 0;
}

static void answer_lines(char *line, char *end) {
  for (char *next; line < end; line = next) {
    next = (char *)memchr(line, '\n', end - line) + 1;
    next[-1] = '\0';
    if (*line)
      answer_line(line);
  }
}

/* Answers the complete requests; the first `searched` bytes have no line's end. */
static void answer_input(size_t searched) {
  char *last = memrchr(input + searched, '\n', input_length - searched);
  if (!last)
    return;
  if (is_surviving)
    survive_lines(input, last + 1);
  else
    answer_lines(input, last + 1);
  input_length = input + input_length - (last + 1);
  memmove(input, last + 1, input_length);
}

static void serve(void) {
  for (;;) {
    write_answers();
    ssize_t count = read(STDIN_FILENO, input + input_length, INPUT - input_length);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    input_length += count;
    answer_input(input_length - count);
    if (input_length == INPUT) {
      fprintf(stderr, "a request is too long\n");
      exit(3);
    }
  }
}

/* The earlier requests were answered; then the process ends with the signal, as the consumer's would. */
static void end_with_signal(int number) {
  write_answers();
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_signals(void) {
  static char stack[1 << 16];
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
  stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = end_with_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaltstack(&alternative, NULL);
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    sigaction(fatal[i], &action, NULL);
}

/* Consumers read memory that they never wrote. Without random addresses, and with all memory filled, their answers are the
   same each time. Larger blocks are new pages, which are zero: consumers allocate gigabytes for wrong counts. */
void *malloc(size_t size) {
  extern void *__libc_malloc(size_t);
  void *block = __libc_malloc(size);
  return block && size < LARGE ? memset(block, 0x5a, size) : block;
}

static void be_deterministic(char **words) {
  int persona = personality(0xffffffff);
  if (persona != -1 && !(persona & ADDR_NO_RANDOMIZE) && personality(persona | ADDR_NO_RANDOMIZE) != -1)
    execv("/proc/self/exe", words);
  mallopt(M_MMAP_THRESHOLD, LARGE);
}

static bool has_option(int count, char **words, const char *name) {
  while (count > 1 && strcmp(words[count - 1], name) != 0)
    count--;
  return count > 1;
}

int main(int count, char **words) {
  be_deterministic(words);
  is_scored = has_option(count, words, "--score");
  is_surviving = has_option(count, words, "--survive");
  output = shared_memory(OUTPUT);
  lengths = shared_memory(3 * sizeof *lengths);
  if (consumer_start)
    consumer_start(words + 1);
  catch_signals();
  serve();
  return 0;
}
