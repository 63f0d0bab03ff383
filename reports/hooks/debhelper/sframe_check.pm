# dh --with sframe-check: runs dh_sframe_check before dh_strip, which removes what names the compiler, the linker and functions.
use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

insert_before('dh_strip', 'dh_sframe_check');

1;
