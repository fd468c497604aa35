"""The lab itself: hosts, runs, loads that slow by the factor promised, and nothing left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.lab import SIGNAL, Host, Lab, LabError, LoadSpec, RandomLoad, Start, why_not
from tests.lab.__main__ import main
from tests.lab.measure import computing_share, link
from tests.lab.processors import find_hierarchy, scratch, sweep
from tests.support.mpi import TimedOut

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(why_not()), reason=why_not())]

ROOT = Path(__file__).resolve().parents[2]

WHERE = """
from mpi4py import MPI
world = MPI.COMM_WORLD
names = world.gather(MPI.Get_processor_name())
if world.rank == 0:
    print(*names)
"""
FOR_EVER = """
import sys
from mpi4py import MPI
if MPI.COMM_WORLD.rank == 0:
    print("running", flush=True)
while True:
    pass
"""
OWNER = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores it
from tests.lab import Host, Lab, LoadSpec
with Lab([Host(0.2), Host(0.2)]) as lab:
    print(lab.processors.lab, flush=True)
    lab.run([sys.executable, "-c", {FOR_EVER!r}], load=LoadSpec(levels=(2, 1)))
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab([Host(0.4, 10), Host(0.4, 10)]) as lab:
        yield lab


@pytest.fixture(scope="module")
def whole() -> Iterator[Lab]:
    """Hosts without a limit, that is, with all of this machine."""
    with Lab([Host(), Host()]) as lab:
        yield lab


def groups() -> set[Path]:
    """Control groups of labs."""
    hierarchy = find_hierarchy()
    assert hierarchy is not None
    return set(hierarchy.root.glob("dlbc-lab-*"))


def devices_and_names() -> str:
    """What the machine's own network shows."""
    shown = [["ip", "-brief", "link"], ["ip", "netns", "list"]]
    return "".join(subprocess.run(c, capture_output=True, text=True, check=True).stdout for c in shown)


def members(group: Path) -> list[str]:
    """The processes in a group and in its hosts."""
    files = [*group.glob("host*/cgroup.procs"), *group.glob("cgroup.procs")]
    return [pid for file in files for pid in file.read_text().split()]


def wait_for_no_members(group: Path, but: Collection[str] = ()) -> None:
    until = time.monotonic() + 30
    while found := [pid for pid in members(group) if pid not in but]:
        assert time.monotonic() < until, f"still running: {found}"
        time.sleep(0.02)


def test_ranks_are_on_their_hosts_in_every_run(lab: Lab) -> None:
    command = [sys.executable, "-c", WHERE]
    assert lab.run(command).stdout == b"host0 host1\n"
    assert lab.run(command, ranks=3).stdout == b"host0 host0 host1\n"


def test_a_program_has_its_streams_status_variables_and_directory(lab: Lab, tmp_path: Path) -> None:
    program = "import os, sys; print(os.environ['DLB_GROUP'], os.getcwd()); sys.exit('over')"
    command = [sys.executable, "-c", f"import os; os.environ['PMI_RANK'] == '1' and exec({program!r})"]
    done = lab.run(command, env={"DLB_GROUP": "it's 2"}, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, f"it's 2 {tmp_path}\n".encode())
    assert "over" in done.stderr


def test_a_rank_has_the_processor_and_the_quota_of_its_host(lab: Lab) -> None:
    program = "import os; print(*os.sched_getaffinity(0)); print(open('/proc/self/cgroup').read())"
    done = lab.run_on(1, [sys.executable, "-I", "-S", "-c", program])
    assert done.stdout.startswith(f"{lab.placement.processors[1]}\n".encode())
    assert f"{lab.processors.lab.name}/host1\n".encode() in done.stdout


@pytest.mark.parametrize("load", [0, 1, 3])
def test_a_process_beside_l_busy_ones_gets_its_part_of_what_it_shares_with_them(lab: Lab, load: int) -> None:
    share = computing_share(lab, 0, load)
    assert share.of_processor <= 0.4 / (load + 1) * 1.25
    assert share.of_host == pytest.approx(1 / (load + 1), rel=0.25)


def test_no_message_is_faster_than_its_link(lab: Lab) -> None:
    assert 0 < link(lab).rate_mbit <= 10.5


def test_the_program_begins_its_load(lab: Lab) -> None:
    begin = f"import os, pathlib; pathlib.Path(os.environ[{SIGNAL!r}]).write_text('begin')"
    load = LoadSpec(levels=(1, 1))
    done = lab.run([sys.executable, "-c", begin], load=load, start=Start.SIGNAL)
    assert done.returncode == 0
    assert done.load_starts in (1, 2)  # both ranks say so, perhaps at the same time
    with pytest.raises(LabError, match=f"a line into the pipe {SIGNAL}, and did not"):
        lab.run([sys.executable, "-c", ""], load=load, start=Start.SIGNAL)


@pytest.mark.parametrize(
    ("load", "setting"),
    [
        (LoadSpec(levels=(3, 1)), "fixed:3,3,1"),
        (RandomLoad(5, 0.5, seed=7), "random:max=5,duration=0.5,seed=7"),
        (None, ""),
    ],
    ids=["fixed", "random", "none"],
)
def test_an_emulated_load_is_the_runtimes(
    whole: Lab, load: LoadSpec | RandomLoad | None, setting: str
) -> None:
    program = "import os; os.environ['PMI_RANK'] == '0' and print(os.environ.get('DLB_LOAD', ''))"
    done = whole.run([sys.executable, "-c", program], ranks=3, load=load, emulated=True)
    assert done.stdout.decode() == f"{setting}\n"


def test_an_emulated_load_that_would_slow_nothing_is_refused(lab: Lab) -> None:
    with pytest.raises(LabError, match="emulated load on host 1: expected a host of 1 core or more"):
        lab.run(["true"], load=LoadSpec(levels=(0, 1)), emulated=True)


def test_a_load_that_cannot_be_given_is_refused(lab: Lab) -> None:
    with pytest.raises(LabError, match="expected 2 values, one per host; found 1"):
        lab.run(["true"], load=LoadSpec(levels=(1,)))
    with Lab([Host()]) as unlimited, pytest.raises(LabError, match="expected a host of at most 1 core"):
        unlimited.run(["true"], load=LoadSpec(levels=(1,)))


def test_when_the_time_is_up_everything_is_killed_and_the_lab_goes_on(lab: Lab) -> None:
    busy = members(lab.processors.lab)  # of runs before, stopped
    with pytest.raises(TimedOut, match="no end after 3 s"):
        lab.run([sys.executable, "-c", FOR_EVER], timeout=3)
    wait_for_no_members(lab.processors.lab, busy)
    assert lab.run([sys.executable, "-c", WHERE]).stdout == b"host0 host1\n"


class Broken(Exception):
    """What a user of a lab may fail by."""


def test_nothing_is_seen_of_a_lab_in_the_machines_network_and_nothing_is_left_after_it() -> None:
    before, known, files = devices_and_names(), groups(), len(os.listdir("/proc/self/fd"))
    lab = Lab([Host(0.2, 10), Host(0.2)])
    with suppress(Broken), lab:
        lab.run(["true"], load=LoadSpec(levels=(2, 0)))
        assert devices_and_names() == before
        assert lab.processors.lab in groups() - known
        assert len(members(lab.processors.lab)) == 2  # the busy processes, stopped
        assert lab.directory.exists()
        raise Broken
    assert lab.processors.lab not in groups()
    assert devices_and_names() == before
    assert len(os.listdir("/proc/self/fd")) == files
    assert not lab.directory.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_takes_its_lab_with_it(number: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert owner.stdout is not None
    with owner.stdout:
        group = Path(owner.stdout.readline().decode().strip())
    until = time.monotonic() + 30
    while len(members(group)) < 5 and time.monotonic() < until:  # three busy ones, and two ranks or more
        time.sleep(0.02)
    owner.send_signal(number)
    assert owner.wait(30) != 0
    if number != signal.SIGKILL:
        assert not group.exists()
        return
    wait_for_no_members(group)
    hierarchy = find_hierarchy()
    assert hierarchy is not None
    sweep(hierarchy)
    assert not group.exists()
    assert not scratch(group).exists()


def test_the_command_runs_a_program_on_hosts(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    options = ["--speed", "0.4,0.2", "--rate", "10mbit,500kbit", "--load", "1,0", "--timeout", "60"]
    assert main([*options, "--", sys.executable, "-c", WHERE]) == 0
    output, said = capfdbinary.readouterr()
    assert output == b"host0 host1\n"
    assert b"lab: 2 hosts" in said
    assert main(["--hosts", "2", "--timeout", "2", "--", sys.executable, "-c", FOR_EVER]) == 124
