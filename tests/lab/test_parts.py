"""Parts of the lab that need no root: hosts and their places, control groups, loads in time, the command."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from dlbrt.emulation import Load, LoadSpec, RandomLoad

from tests.lab import requirements
from tests.lab.__main__ import main
from tests.lab.host import Host, place, share_ranks
from tests.lab.load import Burners, Player, Start, most
from tests.lab.processors import Hierarchy, Processors, find_hierarchy, leftovers, sweep
from tests.lab.requirements import why_not


@pytest.mark.parametrize(
    ("host", "quota"),
    [
        (Host(0.2), (2000, 10_000)),
        (Host(1.5, period_ms=20), (30_000, 20_000)),
        (Host(0.1), (1000, 10_000)),
        (Host(0.05), (1000, 20_000)),
    ],
    ids=["a part of a period", "more than one core", "the least that is granted", "a longer period instead"],
)
def test_a_quota_is_granted_in_each_period(host: Host, quota: tuple[int, int]) -> None:
    assert host.quota_us() == quota


@pytest.mark.parametrize(
    "wrong", [{"cores": 0.0}, {"cores": -1}, {"rate_mbit": 0}, {"period_ms": 0.5}, {"cores": float("nan")}]
)
def test_a_host_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        Host(**wrong)  # type: ignore[arg-type]


def test_small_hosts_share_processors_evenly_and_large_ones_use_all() -> None:
    placement = place([Host(0.4), Host(), Host(0.2), Host(0.3), Host(2.0)], [3, 5])
    assert placement.processors == (3, None, 5, 5, None)
    assert placement.busiest == pytest.approx(0.5)


def test_neighbouring_ranks_share_a_host() -> None:
    assert share_ranks(8, 4) == (2, 2, 2, 2)
    assert share_ranks(6, 4) == (2, 2, 1, 1)
    with pytest.raises(ValueError, match="expected one for each of 4 hosts or more, found 3"):
        share_ranks(3, 4)


def test_the_controller_is_found_in_either_version(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io\n")
    first = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
    second = f"cgroup2 {tmp_path} cgroup2 rw,nosuid 0 0\n"
    other = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ntmpfs /tmp tmpfs rw 0 0\n"
    assert find_hierarchy(other + first) == Hierarchy(Path("/sys/fs/cgroup/cpu,cpuacct"), 1)
    assert find_hierarchy(other + second) == Hierarchy(tmp_path, 2)
    assert find_hierarchy(other) is None


@pytest.mark.parametrize(
    ("version", "found"),
    [
        (1, {"cpu.cfs_quota_us": "2000", "cpu.cfs_period_us": "10000", "cpu.shares": "205"}),
        (2, {"cpu.max": "2000 10000", "cpu.weight": "20"}),
    ],
)
def test_quota_and_weight_are_written_as_each_version_has_them(
    version: int, found: dict[str, str], tmp_path: Path
) -> None:
    Hierarchy(tmp_path, version).limit(tmp_path, 2000, 10_000)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == found


def test_groups_of_processes_that_are_no_more_are_swept_and_no_others(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, 1)
    dead = tmp_path / f"dlbc-lab-{os.getpid()}-1-0"  # a process of this number began at another time
    (dead / "host0").mkdir(parents=True)
    (tmp_path / "another").mkdir()
    with Processors.of([Host()], hierarchy) as alive:
        assert leftovers(hierarchy) == (dead,)
        assert sweep(hierarchy) == (dead,)
        assert {path.name for path in tmp_path.iterdir()} == {alive.lab.name, "another"}
    assert [path.name for path in tmp_path.iterdir()] == ["another"]


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the lab needs Linux")


class Recorder(Burners):
    """A host without processes that keeps what is asked of it."""

    def __init__(self) -> None:
        super().__init__(Path(), None)
        self.provided = 0
        self.levels: list[int] = []

    def provide(self, count: int) -> None:
        self.provided = count

    def set(self, busy: int) -> None:
        self.levels.append(busy)


def played(
    spec: LoadSpec, start: Start, pipe: Path, lines: int, wanted: int
) -> tuple[list[Recorder], Player]:
    """What two hosts are asked for: ``lines`` written into the pipe, then ``wanted`` settings awaited."""
    os.mkfifo(pipe)
    hosts = [Recorder(), Recorder()]
    player = Player(spec, hosts, pipe)
    with player.playing(start):
        for line in range(lines):
            pipe.write_text("begin")
            wait_until(lambda line=line: player.signals > line)  # type: ignore[misc]
        wait_until(lambda: len(hosts[1].levels) >= wanted)
    return hosts, player


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, "nothing has happened for 30 s"
        time.sleep(0.002)


@on_linux
def test_a_random_load_is_the_draws_of_its_host(tmp_path: Path) -> None:
    spec = LoadSpec(random=RandomLoad(1000, 0.2, seed=7))
    hosts, player = played(spec, Start.LAUNCH, tmp_path / "start", 0, 3)
    draws = [[Load(spec, number).level(0.2 * block) for block in range(200)] for number in (0, 1)]
    for number, host in enumerate(hosts):
        assert host.provided == most(spec, number) == 1000
        assert host.levels[0] == draws[number][0]
        assert host.levels[-1] == 0  # nothing is busy once the run has ended
        assert set(host.levels[:-1]) <= set(draws[number])
    assert player.signals == 0


@on_linux
def test_a_load_begins_at_the_programs_word_and_begins_anew_at_each(tmp_path: Path) -> None:
    hosts, player = played(LoadSpec(levels=(3, 0)), Start.SIGNAL, tmp_path / "start", 2, 2)
    assert hosts[0].levels == [3, 3, 0]
    assert hosts[1].levels == [0, 0, 0]
    assert player.signals == 2


@on_linux
def test_without_a_word_nothing_is_loaded(tmp_path: Path) -> None:
    hosts, _ = played(LoadSpec(levels=(3, 1)), Start.SIGNAL, tmp_path / "start", 0, 0)
    assert [host.levels for host in hosts] == [[0], [0]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hosts", "4"], "expected a command after --"),
        (["--hosts", "4", "--speed", "0.1,0.2", "--", "true"], "--speed: expected 1 or 4 values, found 2"),
        (["--speed", "fast", "--", "true"], "--speed: expected numbers separated by commas, found 'fast'"),
        (["--rate", "10furlongs", "--", "true"], "--rate: expected numbers"),
        (["--hosts", "2", "--load", "0,0,1", "--", "true"], "expected 2 values"),
        (["--hosts", "2", "--load", "sometimes", "--", "true"], "found 'sometimes'"),
        (["--speed", "0", "--", "true"], "cores: expected 0.01 or more"),
        (["--hosts", "0", "--", "true"], "hosts: expected one or more"),
    ],
)
def test_the_command_refuses(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def nothing(*_: object) -> None:
    """Finds nothing."""


@pytest.mark.parametrize(
    ("place", "replaced", "reason"),
    [
        ((sys, "platform"), "darwin", "the lab needs Linux; this is darwin"),
        ((os, "geteuid"), lambda: 1000, "the lab needs root, to make namespaces and control groups"),
        ((shutil, "which"), nothing, "the lab needs programs that are not on PATH: ip (of iproute2), tc"),
        ((requirements, "find_mpiexec"), lambda: ("echo",), "the lab needs MPICH's mpiexec (hydra); echo is"),
        ((requirements, "find_hierarchy"), nothing, "the lab needs control groups with the controller cpu"),
    ],
    ids=["another system", "another user", "missing programs", "another MPI", "no control groups"],
)
def test_where_there_can_be_no_lab_one_sentence_says_why(
    place: tuple[object, str], replaced: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    if replaced is not nothing or place[0] is requirements:
        monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(*place, replaced)
    found = why_not.__wrapped__()
    assert found.startswith(reason)
    assert "\n" not in found
