//! The texts around the help of the program.

/// The version, and what it was built from and with.
pub(super) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("SFRAME_CHECK_BUILD"), ")");

pub(super) const ABOUT: &str = "Checks the SFrame stack-trace sections (.sframe) of ELF files";

pub(super) const LONG_ABOUT: &str = "\
Checks the SFrame stack-trace sections (.sframe) of ELF files: whether each conforms to the \
specification, and whether it recovers at every PC what DWARF call frame information does. Versions 1, \
2 and 3 on AMD64, AArch64 and s390x.

Give it files, folders, archives, packages or patterns. Files without a section are counted: most have \
none.";

pub(super) const AFTER_HELP: &str = "\
Examples:
  sframe-check /usr/lib /usr/bin             Check everything that is installed
  sframe-check --coverage libfoo.so          Which code has stack-trace data, and why not more?
  sframe-check explain NAME                  What does this finding mean?

`sframe-check help` lists all commands and options; `sframe-check help COMMAND` those of a command.";

pub(super) const AFTER_LONG_HELP: &str = "\
Exit status:
  0  everything was checked, and nothing at or above the failure level was found
  1  something at or above the failure level was found
  2  no such finding, but something could not be read or decided, or there was nothing to check
  3  wrong usage, or the program itself failed
  64  of `shard scan`, `status` and `merge`: wrong usage, which another try does not change
  75  of `shard scan`, `status` and `merge`: another try may succeed
  130  interrupted by Ctrl-C: the report covers what was checked until then
  141  the reader of the output closed it, such as head: the rest was not checked

Examples:
  Check everything that is installed:
      sframe-check /usr/lib /usr/bin
  Check what a build made, and fail on warnings, too:
      sframe-check --fail-on warning 'build/**/*.o' build/libfoo.a
  Check a list of files:
      find / -xdev -name '*.so*' -print0 | sframe-check --files-from -
  Check packages, without unpacking them to disk:
      sframe-check libfoo_1.0_amd64.deb libfoo-1.0.x86_64.rpm
  Which code has stack-trace data, and why does the rest have none?
      sframe-check --coverage libfoo.so
  Which kernel, C library or profiler can read what this package ships?
      sframe-check --for all libfoo_1.0_amd64.deb
  What would SFrame cost, and what would it leave out?
      sframe-check forecast /usr/lib
  What will the linker make of these objects?
      sframe-check link -- cc main.o libfoo.a -o prog
  What does this finding mean?
      sframe-check explain NAME-OF-THE-RULE
  Look at a section:
      sframe-check dump libfoo.so
      sframe-check dump --style gnu libfoo.so
  What do SFrame and CFI say about one address?
      sframe-check lookup libfoo.so 0x1136 main+0x10
  Do SFrame and CFI walk the stacks of a crashed program in the same way?
      sframe-check walk core
  Do SFrame and CFI recover the true caller at each instruction that a program executes?
      sframe-check trace -- ls -l
  How do two assemblers or two builds differ?
      sframe-check diff old/libfoo.so new/libfoo.so
  Process the findings with another program:
      sframe-check --format ndjson build | jq -c 'select(.findings | length > 0)?'
  What do assemblers make of the CFI of a library?
      sframe-check reassemble libfoo.so -o foo.s
  Keep the results, and report what changed since yesterday:
      sframe-check --store scans/today --previous scans/yesterday mirror/pool
      sframe-check compare scans/yesterday scans/today
  Which readers crash on a malformed section?
      sframe-check torture --reader readelf --reader 'my-reader --all {}'
  Check a section that was copied from memory:
      sframe-check --raw --address 0x7f0000001000 --machine amd64 section.bin

`sframe-check check PATH...` is the same as `sframe-check PATH...`. If a path has the name of a command, \
write ./dump. Options before a command belong to it.";
