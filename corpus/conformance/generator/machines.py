"""The machines that SFrame is defined for (V1 1.2.1, V2 2.2.1, V3 2.2.1), and the DWARF numbers of their registers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    name: str
    abi: int
    order: str
    sp: int
    fp: int
    ra: int
    fixed_ra: int


AMD64 = Machine("amd64", 3, "little", 7, 6, 16, -8)
AARCH64 = Machine("aarch64", 2, "little", 31, 29, 30, 0)
AARCH64_BE = Machine("aarch64_be", 1, "big", 31, 29, 30, 0)
S390X = Machine("s390x", 4, "big", 15, 11, 14, 0)

ALL = (AMD64, AARCH64, AARCH64_BE, S390X)
ARM = (AARCH64, AARCH64_BE)
# Version 1 does not define s390x: its identifier came with errata 1 of version 2.
BY_VERSION = {1: (AMD64, *ARM), 2: ALL, 3: ALL}
