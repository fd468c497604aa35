"""Namespaces of Linux that live as long as this process keeps them open.

A namespace is held by a file descriptor, not by a name: when this process ends, however it ends, the kernel
takes the namespaces away with all devices in them. Nothing of it is ever seen in the machine's own network.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

__all__ = ["Namespace", "enter"]

_CLONE_NEWUTS = 0x04000000
_CLONE_NEWNET = 0x40000000


@dataclass(frozen=True, slots=True)
class Namespace:
    """A network and a host name of their own; ``network`` and ``uts`` are open file descriptors."""

    network: int
    uts: int

    @classmethod
    def make(cls, name: str) -> Namespace:
        """A new one with this host name; OSError where the system does not allow it."""
        with ThreadPoolExecutor(1) as other:  # only the thread that asks for namespaces moves into them
            return other.submit(cls._of_this_thread, name).result()

    @classmethod
    def _of_this_thread(cls, name: str) -> Namespace:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET | _CLONE_NEWUTS):
            number = ctypes.get_errno()
            raise OSError(number, f"unshare: {os.strerror(number)}")
        socket.sethostname(name)
        network, uts = (os.open(f"/proc/thread-self/ns/{kind}", os.O_RDONLY) for kind in ("net", "uts"))
        return cls(network, uts)

    @property
    def network_path(self) -> str:
        """Where other processes find its network while this one lives."""
        return f"/proc/{os.getpid()}/fd/{self.network}"

    @property
    def uts_path(self) -> str:
        """Where other processes find its host name while this one lives."""
        return f"/proc/{os.getpid()}/fd/{self.uts}"

    def run(self, command: Sequence[str], text: str = "") -> str:
        """Runs a command in it that reads ``text``; its output, OSError with what it says where it fails."""
        done = subprocess.run(
            [*enter(self), *command], input=text, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode:
            raise OSError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def close(self) -> None:
        """Lets it go; it ends with the last process in it."""
        os.close(self.network)
        os.close(self.uts)


def enter(namespace: Namespace) -> tuple[str, ...]:
    """What stands before a command that is to run in the namespace."""
    return ("nsenter", f"--net={namespace.network_path}", f"--uts={namespace.uts_path}", "--")
