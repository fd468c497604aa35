"""The network measured on real ranks: each finds the same, all of them end, and runs find what is stored."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from dlbrt.mpi.measuring.calibration import sizes
from dlbrt.observe.networks import Calibration, default_path, from_json, read

from tests.support.mpi import Completed, run_mpi
from tests.support.tier import part

pytestmark = pytest.mark.mpi

MEASURE = """
import sys
from mpi4py import MPI
from dlbrt.mpi.measuring.calibration import measure
from dlbrt.mpi.communicator import ANY, Communicator
from dlbrt.observe.networks import to_json

communicator = Communicator(MPI.COMM_WORLD)
found = measure(communicator, sys.argv[1])
assert communicator.comm.allgather(found) == [found] * communicator.ranks
assert not communicator.comm.Iprobe(source=ANY, tag=MPI.ANY_TAG)
if communicator.rank == 0:
    print(to_json(found))
"""

#: The clock of each rank is an hour ahead of that of the one before.
AHEAD = """
import time
from types import SimpleNamespace
import dlbrt.mpi.measuring.collective_timer as stage
from mpi4py import MPI

ahead_s = 3600.0 * MPI.COMM_WORLD.Get_rank()
stage.time = SimpleNamespace(perf_counter=lambda: time.perf_counter() + ahead_s, sleep=time.sleep)
"""

KNOWN = """
import json, os
from dataclasses import asdict
from mpi4py import MPI
from dlbrt.predict.network import Network
from dlbrt.mpi.measuring.network import known
from dlbrt.mpi.communicator import Communicator

communicator = Communicator(MPI.COMM_WORLD)
networks = known(communicator, [MPI.Get_processor_name()] * communicator.ranks, os.environ)
if communicator.rank == 0:
    coarse = networks.whole == Network.default()
    print(json.dumps(asdict(networks.whole)), len(networks.within), coarse, sep="\\n")
"""


def run(program: str, ranks: int, *words: str, env: dict[str, str] | None = None) -> Completed:
    done = run_mpi(ranks, [sys.executable, "-c", program, *words], env=env)
    assert done.status == 0, done.stderr
    return done


def measured(hosts: str) -> Calibration:
    return from_json(run(MEASURE, len(hosts), hosts).stdout.decode())


@pytest.mark.parametrize("ranks", part([2, 3, 5], 3))
def test_ranks_of_one_host_find_all_alike_what_their_network_takes(ranks: int) -> None:
    found = measured("h" * ranks)
    assert found.site.ranks == (("h", ranks),)
    samples, network = found.samples, found.networks.whole
    assert [p for p, _ in samples.all_to_all] == [*range(2, ranks + 1)]
    for taken, pattern in (
        (samples.one_to_all, network.one_to_all),
        (samples.all_to_one, network.all_to_one),
        (samples.all_to_all, network.all_to_all),
    ):
        assert min(seconds for _, seconds in taken) >= 0
        assert pattern.most == ranks
    assert network.latency_s > 0
    assert network.switch_s > 0
    [(host, within)] = found.networks.within
    assert host == "h"
    assert (within.latency_s, within.one_to_all) == (network.latency_s, network.one_to_all)


@pytest.mark.parametrize(("hosts", "within"), part([("aab", "a"), ("abbab", "ab"), ("abc", "")], 3))
def test_each_host_with_several_ranks_has_a_network_of_its_own(hosts: str, within: str) -> None:
    found = measured(hosts)
    assert found.site.ranks == tuple((host, hosts.count(host)) for host in sorted({*hosts}))
    assert [host for host, _ in found.networks.within] == [*within]
    for host, network in found.networks.within:
        assert network.all_to_all.most == hosts.count(host)
        assert network.latency_s > 0


@pytest.mark.full
def test_clocks_that_differ_do_not_show_in_the_times() -> None:
    found = from_json(run(AHEAD + MEASURE, 3, "hhh").stdout.decode())
    for taken in (found.samples.one_to_all, found.samples.all_to_one, found.samples.all_to_all):
        assert all(0 <= seconds < 60 for _, seconds in taken)


def test_of_many_ranks_some_numbers_are_measured() -> None:
    assert sizes(2) == [2]
    assert sizes(8) == [2, 3, 4, 5, 6, 7, 8]
    assert sizes(9) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert sizes(16) == [2, 3, 4, 5, 6, 7, 8, 12, 16]
    assert sizes(40) == [2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 40]


def looked_up(ranks: int, cache: Path) -> tuple[dict[str, float], int, bool, str]:
    """The network that a run starts with, those within hosts, whether it is the default; and what it says."""
    done = run(KNOWN, ranks, env={"XDG_CACHE_HOME": str(cache)})
    network, within, default = done.stdout.decode().splitlines()
    return json.loads(network), int(within), default == "True", done.stderr


@pytest.mark.parametrize("ranks", part([2, 3, 5], 3))
def test_where_nothing_is_stored_a_run_measures_coarsely(ranks: int, tmp_path: Path) -> None:
    network, within, default, said = looked_up(ranks, tmp_path)
    assert not default
    assert (within, said) == (0, "")
    assert network["latency_s"] > 0
    assert network["bandwidth"] > 0
    assert [*tmp_path.iterdir()] == []


def test_one_rank_measures_nothing(tmp_path: Path) -> None:
    (tmp_path / "dlb").mkdir()
    (tmp_path / "dlb" / "networks.json").write_text("{")
    assert looked_up(1, tmp_path)[1:] == (0, True, "")


@pytest.mark.full
def test_a_run_on_the_same_hosts_goes_by_what_is_stored(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-P", "-m", "dlbrt.mpi.measuring.calibration", "3", "--force"]
    done = run_mpi(3, command, env=env)
    assert done.status == 0, done.stderr
    path = default_path(env)
    assert path is not None
    assert f"stored in {path}: runs on these hosts go by it" in done.stdout.decode()
    [stored] = read(path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", stored.date)
    assert stored.spread is None or stored.spread >= 1
    for ranks in (2, 3):
        network, within, _, said = looked_up(ranks, tmp_path)
        assert network == json.loads(json.dumps(asdict(stored.networks.whole)))
        assert (within, said) == (1, "")
    assert looked_up(4, tmp_path)[0] != json.loads(json.dumps(asdict(stored.networks.whole)))


#: Under a launcher: the calibration, with repetitions whose latencies are 1, 2 and 7 times as long.
BUSY = """
import sys
from dataclasses import replace
import dlbrt.mpi.measuring.calibration as calibration
from dlbrt.predict.network import Networks

measure, factors, kept = calibration.measure, iter([1, 2, 7]), []

def measured(*arguments):
    kept[:] = found, = kept or [measure(*arguments)]
    whole = replace(found.networks.whole, latency_s=1e-6 * next(factors), bandwidth=1e9)
    samples = replace(found.samples, all_to_all=((2, 1e-5),))
    return replace(found, networks=Networks(whole), samples=samples)

calibration.measure = measured
calibration.main()
"""


@pytest.mark.full
def test_nothing_is_stored_while_the_machine_is_busy(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    done = run_mpi(2, [sys.executable, "-c", BUSY, "2"], env=env)
    assert done.status == 1, done.stderr
    assert done.stdout.decode().endswith("\nrepetitions differ by a factor of 7 at most\n")
    assert done.stderr.count("dlbc: the network is not stored: repetitions differ by a factor of 7, so") == 1
    assert [*tmp_path.iterdir()] == []
    assert run_mpi(2, [sys.executable, "-c", BUSY, "2", "--force"], env=env).status == 0
    path = default_path(env)
    assert path is not None
    [stored] = read(path)
    assert stored.spread == pytest.approx(7)


@pytest.mark.parametrize("content", ["{", '{"format": "dlb networks", "version": 1, "networks": []}'])
def test_a_damaged_or_old_file_is_reported_once_and_not_used(content: str, tmp_path: Path) -> None:
    (tmp_path / "dlb").mkdir()
    (tmp_path / "dlb" / "networks.json").write_text(content)
    network, _, default, said = looked_up(3, tmp_path)
    assert not default
    assert network["latency_s"] > 0
    assert said.count("dlb: expected networks that `dlbc calibrate` has measured; found '") == 1
    assert said.count("\n") == 1
    assert (tmp_path / "dlb" / "networks.json").read_text() == content


@pytest.mark.parametrize(
    ("ranks", "expected", "said"),
    [(2, 4, "expected 4 ranks, found 2"), (1, 1, "expected 2 ranks or more, found 1")],
)
def test_other_ranks_than_expected_are_told_of(ranks: int, expected: int, said: str, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "dlbrt.mpi.measuring.calibration", str(expected)]
    done = run_mpi(ranks, command, env={"XDG_CACHE_HOME": str(tmp_path)})
    assert (done.status, done.stdout) == (2, b"")
    assert done.stderr.count(said) == 1


def test_a_place_that_cannot_be_written_is_told_of_after_the_table(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "dlbrt.mpi.measuring.calibration", "2", "--force"]
    done = run_mpi(2, command, env={"XDG_CACHE_HOME": "/dev/null"})
    assert done.status == 2
    assert b"2 ranks (" in done.stdout
    assert b"stored in" not in done.stdout
    assert "dlbc: the network is not stored: /dev/null/dlb cannot be written: Not a directory" in done.stderr
