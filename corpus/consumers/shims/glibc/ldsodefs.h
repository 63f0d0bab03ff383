/* `GLRO (dl_find_object)` is the shim's function. */

#ifndef CONSUMERS_GLIBC_LDSODEFS_H
#define CONSUMERS_GLIBC_LDSODEFS_H

#include <dlfcn.h>
#include <string.h>

#define GLRO(name) shim_##name

int shim_dl_find_object(void *address, struct dl_find_object *result);

#endif
