"""A private Slurm: munged, slurmctld and slurmd, on own ports and in an own directory.

The daemons run in the foreground as children of this process, and die with it. Jobs see nothing of the
machine's own Slurm, if it has one: `SLURM_CONF` names the configuration that is written here.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Slurm", "slurm", "why_no_slurm"]

#: Programs, and Debian's packages that have them.
_PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "srun": "slurm-client",
    "setpriv": "util-linux",
}
_READY_S = 60.0
#: Without control groups, and without accounts of users.
_CONFIGURATION = """\
ClusterName=dlbc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
CredType=cred/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""
_NODE = "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={processors} State=UNKNOWN\n"


def why_no_slurm() -> str:
    """Why there can be no Slurm here, in one sentence; empty if there can."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    missing = sorted({package for name, package in _PROGRAMS.items() if not shutil.which(name, path=path)})
    if missing:
        return f"Slurm needs Debian's packages {', '.join(missing)}"
    return "" if os.geteuid() == 0 else "Slurm needs root here, to start jobs"


@dataclass(frozen=True, slots=True)
class Slurm:
    """A cluster that is up; ``environment`` is that of its commands, ``home`` has its logs."""

    home: Path
    environment: dict[str, str]

    def run(
        self, command: Sequence[str], cwd: Path, timeout_s: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm."""
        return subprocess.run(
            command, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=timeout_s,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def end_of(self, job: str, timeout_s: float = 240) -> str:
        """Wait for the end of a job, by its number; its state then. `sbatch --wait` asks each 10 s."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            shown = self.run(["scontrol", "show", "job", job], self.home).stdout
            state = re.search(r"JobState=(\w+)", shown)
            if state is None or state[1] not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"):
                return state[1] if state is not None else shown
            time.sleep(0.2)
        return f"not ended after {timeout_s:g} s"

    def logs(self) -> str:
        """The last lines of all logs."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in self.home.glob("*.log")
        )


@contextmanager
def slurm(home: Path, nodes: int, processors: int) -> Iterator[Slurm]:
    """A cluster of so many nodes with so many processors each, which ends with the context.

    All nodes are this machine, with a slurmd each. MPI takes them for hosts. AssertionError if the cluster
    does not start.
    """
    host, (port, *ports) = socket.gethostname(), _free_ports(1 + nodes)
    names = [f"node{number}" for number in range(1, nodes + 1)]
    home.mkdir(mode=0o700)
    configuration = home / "slurm.conf"
    lines = [
        _NODE.format(node=name, host=host, port=own, processors=processors)
        for name, own in zip(names, ports, strict=True)
    ]
    configuration.write_text(_CONFIGURATION.format(host=host, home=home, port=port) + "".join(lines))
    (home / "cgroup.conf").write_text("CgroupPlugin=autodetect\n")
    key = home / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    environment = os.environ | {"SLURM_CONF": str(configuration), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    cluster = Slurm(home, environment)
    with ExitStack() as daemons:
        munged = ["munged", "--foreground", "--force", f"--socket={home}/munge.socket", f"--key-file={key}"]
        munged += [f"--{kind}-file={home}/munge.{kind}" for kind in ("pid", "log", "seed")]
        daemons.enter_context(_daemon(munged, cluster))
        _await(cluster, lambda: (home / "munge.socket").exists(), "munged")
        daemons.enter_context(_daemon(["slurmctld", "-D"], cluster))
        for name in names:
            daemons.enter_context(_daemon(["slurmd", "-D", "-N", name], cluster))
        idle = ["sinfo", "--noheader", "--Node", "--states=idle", "--format=%N"]
        _await(cluster, lambda: sorted(cluster.run(idle, home).stdout.split()) == names, "the nodes")
        yield cluster


@contextmanager
def _daemon(command: Sequence[str], cluster: Slurm) -> Iterator[None]:
    """A daemon that runs while the context lasts; it ends with this process, however that ends."""
    with open(cluster.home / f"{Path(command[0]).name}.out.log", "ab") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],
            env=cluster.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(cluster: Slurm, ready: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _READY_S
    while not ready():
        assert time.monotonic() < until, f"{what} did not come up in {_READY_S:g} s\n{cluster.logs()}"
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
