/* Memory: sections before a page without access, and the memory of walks at its own addresses. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "place.h"
#include "protocol.h"

enum { PAGE = 4096, PAGES = 64 };

/* Room for the largest section so far, and the page after it. */
static unsigned char *room;
static size_t room_length, used;

static void make_room(size_t length) {
  if (room)
    munmap(room, room_length + PAGE);
  used = 0;
  room_length = (length / PAGE + 1) * PAGE;
  room = mmap(NULL, room_length + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mprotect(room + room_length, PAGE, PROT_NONE) != 0) {
    perror("mmap");
    exit(3);
  }
}

unsigned char *place_before_guard(size_t length) {
  if (!room || length > room_length)
    make_room(length);
  /* What a consumer reads before the bytes is the same each time. */
  memset(room + room_length - used, 0, used);
  used = length;
  return room + room_length - length;
}

bool read_memory(const struct walk *walk, uint64_t address, void *to, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const struct segment *segment = walk->memory, *end = walk->memory + walk->segments;
    while (segment < end && address + i - segment->address >= segment->length)
      segment++;
    if (segment == end)
      return false;
    ((unsigned char *)to)[i] = segment->bytes[address + i - segment->address];
  }
  return true;
}

/* The pages of the walk at hand. Bytes between its segments are zero. */
static uint64_t pages[PAGES];
static size_t page_count;

static bool map_page(uint64_t address) {
  uint64_t start = address & -(uint64_t)PAGE;
  for (size_t i = 0; i < page_count; i++)
    if (pages[i] == start)
      return true;
  if (page_count == PAGES)
    return false;
  void *found = mmap((void *)start, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (found == MAP_FAILED)
    return false;
  if (found != (void *)start) {
    munmap(found, PAGE);
    return false;
  }
  pages[page_count++] = start;
  return true;
}

static bool map_bytes(uint64_t address, const unsigned char *bytes, size_t length) {
  if (length == 0)
    return true;
  if (address + length < address)
    return false;
  for (uint64_t page = address & -(uint64_t)PAGE; page < address + length; page += PAGE)
    if (!map_page(page))
      return false;
  memcpy((void *)address, bytes, length);
  return true;
}

bool map_walk(const struct walk *walk) {
  bool is_mapped = map_bytes(section.address, section.bytes, section.length);
  for (size_t i = 0; i < walk->segments && is_mapped; i++)
    is_mapped = map_bytes(walk->memory[i].address, walk->memory[i].bytes, walk->memory[i].length);
  return is_mapped;
}

/* The page of an address and the next one, because instructions may cross into it. */
bool map_zeros(uint64_t address) {
  return map_page(address) && map_page(address + PAGE);
}

void unmap_all(void) {
  while (page_count)
    munmap((void *)pages[--page_count], PAGE);
}
