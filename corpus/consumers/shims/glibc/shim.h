/* Included before each of glibc's files: its own macros for symbols, and the places where the shim takes over. The tracer
   starts in the frame of a walk instead of its caller's, and `_Unwind_Backtrace` records that DWARF is asked. */

#ifndef CONSUMERS_GLIBC_SHIM_H
#define CONSUMERS_GLIBC_SHIM_H

#define libc_hidden_proto(name)
#define libc_hidden_def(name)
#define weak_alias(name, alias)

#define _Unwind_Backtrace shim_dwarf_backtrace
#define __builtin_frame_address(level) ((void *)shim_frame_pointer())

#include <stddef.h>
#include <stdint.h>

uintptr_t shim_frame_pointer(void);

#endif
