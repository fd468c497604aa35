"""The memory of hosts in the lab: processes that need more page, alone, and limits and swap end with it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.lab import Host, Lab, why_no_memory
from tests.lab.memory import Memory, find_memory, swap

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MB = 24.0

on_hosts = [pytest.mark.mpi, pytest.mark.skipif(bool(why_no_memory()), reason=why_no_memory())]

#: Writes to each page of so many MiB, reads them all, and tells what of it is in swap.
USES = """
import sys
pages = bytearray(int(sys.argv[1]) << 20)
for place in range(0, len(pages), 4096):
    pages[place] = place % 251
assert all(pages[place] == place % 251 for place in range(0, len(pages), 4096))
print(next(line for line in open("/proc/self/status") if line.startswith("VmSwap")))
"""
OWNER = """
from tests.lab.memory import swap
with swap(4) as where:
    print(where, flush=True)
    import time
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab([Host(0.4, memory_mb=LIMIT_MB, swap_mb=96), Host(0.4)]) as lab:
        yield lab


def uses(megabytes: int) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", USES, str(megabytes)]


def swaps() -> list[str]:
    """What the system swaps to."""
    return [line.split()[0] for line in Path("/proc/swaps").read_text().splitlines()[1:]]


def swapped_kb(output: bytes) -> int:
    return int(output.split()[1])


def test_the_controller_of_memory_is_found_in_version_1() -> None:
    first = "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
    second = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
    assert find_memory(second + first) == Path("/sys/fs/cgroup/memory")
    assert find_memory(second) is None


@pytest.mark.parametrize("wrong", [{"memory_mb": 4.0}, {"memory_mb": float("nan")}, {"swap_mb": 0.0}])
def test_a_host_of_such_memory_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        Host(**wrong)  # type: ignore[arg-type]


def test_hosts_without_a_limit_need_nothing() -> None:
    with Memory.of([Host(), Host()], "unused") as memory:
        assert memory.hosts == (None, None)
        with pytest.raises(ValueError, match="host 1: expected one with a limit of memory"):
            memory.peak_mb(1)


class TestOnHosts:
    pytestmark = on_hosts

    def test_what_fits_stays_and_what_does_not_is_paged(self, lab: Lab) -> None:
        assert swapped_kb(lab.run_on(0, uses(4)).stdout) == 0
        done = lab.run_on(0, uses(48))
        assert done.returncode == 0
        assert swapped_kb(done.stdout) > (48 - LIMIT_MB) * 1024
        assert lab.memory.peak_mb(0) <= LIMIT_MB

    def test_another_host_has_what_it_needs(self, lab: Lab) -> None:
        assert swapped_kb(lab.run_on(1, uses(48)).stdout) == 0

    def test_who_needs_more_than_memory_and_swap_is_ended_alone(self, lab: Lab) -> None:
        before = lab.memory.kills(0)
        assert lab.run_on(0, uses(400)).returncode != 0
        assert lab.memory.kills(0) == before + 1
        assert lab.run_on(0, uses(4)).returncode == 0

    def test_limits_and_swap_end_with_the_lab(self) -> None:
        before, root = swaps(), find_memory()
        assert root is not None
        hosts = [Host(0.2, memory_mb=LIMIT_MB, swap_mb=8)]
        with suppress(RuntimeError), Lab(hosts) as short:
            assert len(swaps()) == len(before) + 1
            assert (root / short.processors.lab.name / "host0").exists()
            raise RuntimeError
        assert swaps() == before
        assert not (root / short.processors.lab.name).exists()

    def test_swap_ends_with_a_process_that_is_killed(self) -> None:
        owner = subprocess.Popen([sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert owner.stdout is not None
        with owner.stdout:
            where = owner.stdout.readline().strip()
        assert where in swaps()
        owner.kill()
        owner.wait(30)
        until = time.monotonic() + 30
        while where in swaps() or Path(where).exists():
            assert time.monotonic() < until, f"still there: {where}"
            time.sleep(0.05)

    def test_swap_is_of_the_size_that_was_asked_for(self) -> None:
        with swap(6) as where:
            line = next(line for line in Path("/proc/swaps").read_text().splitlines() if str(where) in line)
            assert 5 << 10 <= int(line.split()[2]) <= 6 << 10
