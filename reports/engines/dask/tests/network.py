"""A network of machines that can be disconnected, made of network namespaces without access to the outside."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from types import TracebackType

# Addresses reserved for documentation (RFC 5737), used only inside the namespaces.
SUBNET = "192.0.2"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def available() -> bool:
    name = f"sframe-{os.getpid()}-probe"
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


class Network:
    """Machine 0 is a bridge that connects the others; a scheduler listens at `address(0)`."""

    def __init__(self, machines: int) -> None:
        self.names = [f"sframe-{os.getpid()}-{machine}" for machine in range(machines)]

    def __enter__(self) -> Network:
        with ExitStack() as made:
            for machine, name in enumerate(self.names):
                ip("netns", "add", name)
                made.callback(ip, "netns", "delete", name)
                self.connect(machine, name)
            self.made = made.pop_all()
        return self

    def connect(self, machine: int, name: str) -> None:
        ip("-n", name, "link", "set", "lo", "up")
        if machine == 0:
            ip("-n", name, "link", "add", "bridge", "type", "bridge")
            ip("-n", name, "addr", "add", f"{self.address(0)}/24", "dev", "bridge")
            ip("-n", name, "link", "set", "bridge", "up")
        else:
            ip("-n", name, "link", "add", "uplink", "type", "veth", "peer", "name", f"m{machine}", "netns", self.names[0])
            ip("-n", name, "addr", "add", f"{self.address(machine)}/24", "dev", "uplink")
            ip("-n", name, "link", "set", "uplink", "up")
            ip("-n", self.names[0], "link", "set", f"m{machine}", "master", "bridge")
            self.join(machine)

    def address(self, machine: int) -> str:
        return f"{SUBNET}.{machine + 1}"

    def prefix(self, machine: int) -> list[str]:
        """The prefix of a command that runs it on this machine."""
        return ["ip", "netns", "exec", self.names[machine]]

    def cut(self, machine: int) -> None:
        ip("-n", self.names[0], "link", "set", f"m{machine}", "down")

    def join(self, machine: int) -> None:
        ip("-n", self.names[0], "link", "set", f"m{machine}", "up")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.made.close()
