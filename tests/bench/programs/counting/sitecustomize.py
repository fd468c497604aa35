"""On the path of ranks: counts the bytes that each sends; at its end it writes them to $COUNTED_BYTES.

A broadcast counts once for each rank that gets it. What a program does is not changed.
"""

import atexit
import os
from functools import wraps

from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.regions import MemoryRegion

sent = 0


def size_of(content):
    if isinstance(content, MemoryRegion):
        return content.count * content.datatype.Get_size()
    return content.nbytes if hasattr(content, "nbytes") else len(content)


def counting(send, copies):
    """A method of `Communicator` that sends its first argument, to as many ranks as ``copies`` says."""

    @wraps(send)
    def call(wire, content, *where):
        global sent
        sent += size_of(content) * copies(wire, *where)
        return send(wire, content, *where)

    return call


def once(wire, target, tag):
    return 1


def to_all(wire, root=0):
    return (wire.ranks - 1) * (wire.rank == root)


def written():
    with open(os.path.join(os.environ["COUNTED_BYTES"], str(os.getpid())), "w") as file:
        file.write(str(sent))


if os.environ.get("COUNTED_BYTES"):
    for name in ("send_bytes", "send_memory", "send_region"):
        setattr(Communicator, name, counting(getattr(Communicator, name), once))
    for name in ("broadcast_memory", "broadcast_region"):
        setattr(Communicator, name, counting(getattr(Communicator, name), to_all))
    atexit.register(written)
