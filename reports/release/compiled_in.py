"""The packages that are compiled into the program for a target: neither build scripts, macros nor tests."""

import dataclasses
import json
import re
import subprocess

PROGRAM = "sframe-check"
# `cargo tree` writes the folder of packages that are not from crates.io, and (*) where it has listed a package's own
# dependencies before.
LINE = re.compile(r"^([0-9]+)(\S+) v(\S+)( \(.*\))?( \(\*\))?$")


@dataclasses.dataclass
class Package:
    """A package, the names and versions of those that it uses, and what `cargo metadata` says of it."""

    name: str
    version: str
    uses: set
    metadata: dict

    @property
    def is_ours(self):
        """Whether it comes from this repository."""
        return self.metadata["source"] is None


def packages(target, features):
    """The packages by name and version, in this order. `cargo metadata` adds what tests use and enable; `cargo tree` does not."""
    choice = ["--locked", "--features", features]
    listed = ["cargo", "metadata", "--format-version=1", "--filter-platform", target, *choice]
    listed += ["--manifest-path", "reports/program/Cargo.toml"]
    listed = json.loads(subprocess.run(listed, check=True, stdout=subprocess.PIPE).stdout)
    listed = {(it["name"], it["version"]): it for it in listed["packages"]}
    tree = ["cargo", "tree", "--package", PROGRAM, "--target", target, *choice]
    tree += ["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "{p}"]
    tree = subprocess.run(tree, check=True, stdout=subprocess.PIPE, text=True).stdout
    found, path = {}, []
    for line in tree.splitlines():
        match = LINE.match(line)
        if not match:
            raise ValueError(f"cargo tree prints {line!r}")
        depth, name, version = int(match[1]), match[2], match[3]
        found.setdefault((name, version), Package(name, version, set(), listed[name, version]))
        path[depth:] = [(name, version)]
        if depth:
            found[path[depth - 1]].uses.add((name, version))
    return dict(sorted(found.items()))
