/* Where bytes are put: before a page without access, or at the addresses that a walk names. */

#ifndef CONSUMERS_PLACE_H
#define CONSUMERS_PLACE_H

#include <stddef.h>

/* Room for bytes that end where a page without access begins. The room is valid until the next call. */
unsigned char *place_before_guard(size_t length);

#endif
