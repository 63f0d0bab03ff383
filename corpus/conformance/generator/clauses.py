"""The clauses of the specification's three versions that describe bytes, and the names of their folders."""

# A subject, and the section that covers it in versions 1, 2 and 3. None: the version does not have it.
SUBJECTS = {
    "preamble": ("1.1", "2.1", "2.1"),
    "endianness": ("1.1.1", "2.1.1", "2.1.1"),
    "version": ("1.1.2", "2.1.2", "2.1.2"),
    "flags": ("1.1.3", "2.1.3", "2.1.3"),
    "header": ("1.2", "2.2", "2.2"),
    "abi": ("1.2.1", "2.2.1", "2.2.1"),
    "functions": ("1.3", "2.3", "2.3.1"),
    "attributes": (None, None, "2.3.2"),
    "function-info": ("1.3.1", "2.3.1", "2.3.3"),
    "pc-types": ("1.3.2", "2.3.2", "2.3.3.1"),
    "fde-types": (None, None, "2.3.3.2"),
    "fre-types": ("1.3.3", "2.3.3", "2.3.3.3"),
    "rows": ("1.4", "2.4", "2.4"),
    "row-info": ("1.4.1", "2.4.1", "2.4.1"),
    "pc-relative": (None, "errata-1", None),
    "s390x-rows": (None, "errata-1", "3.1.3"),
    "outermost-rows": (None, "errata-2", "2.4.1"),
    "outermost-functions": (None, None, "1.2"),
    "amd64-rows": (None, None, "3.1.1"),
    "aarch64-rows": (None, None, "3.1.2"),
    "flexible-rows": (None, None, "3.2"),
    # Versions 1 and 2 describe recovery with the rows; version 3 has an appendix about stack traces.
    "walks": ("1.4", "2.4", "A"),
}

TITLES = {
    "preamble": "SFrame preamble",
    "endianness": "Byte order",
    "version": "SFrame version",
    "flags": "SFrame flags",
    "header": "SFrame header",
    "abi": "ABI/arch identifier",
    "functions": "Function descriptor entries",
    "attributes": "FDE attribute",
    "function-info": "FDE info byte",
    "pc-types": "PC types: increments and repeated blocks",
    "fde-types": "FDE types",
    "fre-types": "FRE types",
    "rows": "Frame row entries",
    "row-info": "FRE info byte",
    "pc-relative": "PC-relative start addresses",
    "s390x-rows": "Default rows of s390x",
    "outermost-rows": "Rows without data words",
    "outermost-functions": "Functions without rows",
    "amd64-rows": "Default rows of AMD64",
    "aarch64-rows": "Default rows of AArch64",
    "flexible-rows": "Flexible rows",
    "walks": "Stack traces",
}


def section_of(subject, version):
    return SUBJECTS[subject][version - 1]


def folder(subject, version):
    return f"v{version}/{section_of(subject, version)}-{subject}"


def versions(subject):
    return [version for version in (1, 2, 3) if section_of(subject, version)]
