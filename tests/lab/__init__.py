"""A network of workstations in one machine: hosts of given speeds, links and real competing processes.

    with Lab([Host(cores=0.1, rate_mbit=10)] * 16) as lab:
        result = lab.run([sys.executable, "program_dlb.py"], load=RandomLoad(5, 0.5, seed=7), timeout=120)

`why_not()` says why it does not work here, or nothing; `python -m tests.lab` is the command for people.
"""

from dlbrt.emulation import LoadSpec, RandomLoad, parse_load

from tests.lab.host import Host
from tests.lab.lab import Lab, LabError, Result
from tests.lab.load import SIGNAL, Start
from tests.lab.requirements import Unavailable, why_no_hosts, why_no_memory, why_not

__all__ = [
    "SIGNAL",
    "Host",
    "Lab",
    "LabError",
    "LoadSpec",
    "RandomLoad",
    "Result",
    "Start",
    "Unavailable",
    "parse_load",
    "why_no_hosts",
    "why_no_memory",
    "why_not",
]
