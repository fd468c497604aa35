"""What the system says of the processes of all ranks on this host, as rank 0 of a program asks it."""

import os
from pathlib import Path


def processes():
    """The processes of all ranks, by rank: children of one launcher; without one this process alone."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            variables = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        numbers = [int(v.partition(b"=")[2]) for v in variables if v.startswith(b"PMI_RANK=")]
        if numbers and int(parent) == os.getppid():
            found[numbers[0]] = entry
    return [found[rank] for rank in sorted(found)] or [Path("/proc/self")]


def held(process):
    """Its resident memory in KiB, and how many files, mappings and threads it has."""
    lines = (process / "status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    return {
        "kib": int(status["VmRSS"].split()[0]),
        "files": len(list((process / "fd").iterdir())),
        "mappings": (process / "maps").read_text().count("\n"),
        "threads": int(status["Threads"]),
    }


def processor_s(process):
    """The seconds of processor that it has had, in user code and in the system."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
