/* The part of the dynamic linker's interface that glibc's stack tracer uses: it asks where the SFrame section is. */

#ifndef CONSUMERS_GLIBC_DLFCN_H
#define CONSUMERS_GLIBC_DLFCN_H

#define DLFO_FLAG_SFRAME 1

struct dl_find_object {
  unsigned long long dlfo_flags;
  void *dlfo_sframe;
};

#endif
