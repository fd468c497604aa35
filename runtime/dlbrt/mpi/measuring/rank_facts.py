"""``python -m dlbrt.mpi.measuring.rank_facts``, under mpiexec: what ranks find of MPI, for `dlbc doctor`.

Rank 0 prints a line once all ranks have reported, and another one once they have counted together, as
chunks of a pool are claimed (`SharedCounter`). A rank that the launcher has not joined to others is rank 0
of 1, and prints as well: then there are several first lines.
"""

from __future__ import annotations

import json

from mpi4py import MPI

from dlbrt.contract import FACTS
from dlbrt.mpi.communicator import SharedCounter

_LEVELS = {
    MPI.THREAD_SINGLE: "single",
    MPI.THREAD_FUNNELED: "funneled",
    MPI.THREAD_SERIALIZED: "serialized",
    MPI.THREAD_MULTIPLE: "multiple",
}


def main() -> None:
    """Report from all ranks."""
    world = MPI.COMM_WORLD
    mine = {
        "host": MPI.Get_processor_name(),
        "level": _LEVELS[MPI.Query_thread()],
        "library": MPI.Get_library_version().strip("\0 \n"),
        "order": hash("the order of sets of strings"),
    }
    found = world.gather(mine)
    if world.Get_rank() == 0:
        print(FACTS + json.dumps({"ranks": found}), flush=True)
    counter = SharedCounter(world)
    request, before = counter.fetch_and_add(1)
    request.Wait()
    numbers = world.gather(int(before[0]))
    counter.free()
    if numbers is not None:
        print(FACTS + json.dumps({"counted": sorted(numbers)}), flush=True)


if __name__ == "__main__":
    main()
