"""Calls loops of all kinds again and again, and notes what the processes of all ranks hold meanwhile.

``leaks.py CALLS EVERY RECORD``: after each EVERY calls a line of JSON goes to the file RECORD: the number of
calls so far and, for each rank, its memory in KiB, files, mappings and threads.
"""

import json
import os
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from rank_processes import held, processes


class Particle:
    def __init__(self, x):
        self.x = x
        self.steps = 0

    def move(self, by):
        self.x += by
        self.steps += 1


class Refused(Exception):
    def __init__(self, place, why):
        super().__init__(f"{place}: {why}")
        self.place = place


def unseen(seconds):
    """A handle of a new communicator, and of a new request, of the process that runs the iteration.

    The module is the runtime's: the compiler refuses programs that import mpi4py themselves.
    """
    time.sleep(seconds)
    if (mpi := sys.modules.get("mpi4py.MPI")) is None:
        return os.getpid(), 0, 0
    communicator = mpi.COMM_SELF.Dup()
    request = communicator.Irecv(bytearray(8), 0)
    handles = communicator.handle % 2**16, request.handle % 2**16
    request.Cancel()
    request.Wait()
    communicator.Free()
    return os.getpid(), *handles


def blocks(n):
    a, b = np.zeros((n, 40)), np.arange(n * 40.0).reshape(n, 40)
    # dlb: parallel, BLOCK, schedule(GDDLB)
    for i in range(n):
        a[i, :] = np.sqrt(b[i, :]) + i
    return a


def dealt(n):
    a = np.zeros(n)
    # dlb: parallel, CYCLIC, schedule(LDDLB, group=2)
    for i in range(n):
        t = 0.0
        for j in range(i):
            t += j * 0.5
        a[i] = t
    return a


def halo(n):
    u, v = np.arange(n * 8.0).reshape(n, 8), np.zeros((n, 8))
    # dlb: parallel, BLOCK, schedule(GCDLB)
    for i in range(1, n - 1):
        v[i, :] = (u[i - 1, :] + u[i, :] + u[i + 1, :]) / 3.0
    return v


def reductions(n):
    total, highest, counts = 0.0, -1.0, np.zeros(5, dtype=np.int64)
    # dlb: parallel, reduction(total, highest, counts), schedule(steal)
    for i in range(n):
        total += i / 3.0
        highest = max(highest, (i * 7919) % 101 / 7.0)
        counts[i % 5] += 1
    return np.array([total, highest, *counts])


def printed(n):
    # dlb: parallel, schedule(SS)
    for i in range(n):
        print("line", i, n)
    return np.zeros(1)


def containers(n):
    names, squares, groups = [], {}, {}
    # dlb: parallel, schedule(diffusion)
    for i in range(n):
        names.append(str(i) * 3)
        squares[i] = i * i
        groups.setdefault(i % 3, []).append(i)
    return np.array([len("".join(names)), sum(squares.values()), len(groups[2])])


def repeated(n):
    u, v = np.arange(n * 6.0).reshape(n, 6), np.zeros((n, 6))
    # dlb: iterate
    for step in range(6):
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            v[i, :] = u[i - 1, :] + u[i + 1, :]
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            u[i, :] = v[i, :] * 0.5
        u[0, 0] += step
    return u


def compiled(n):
    a = np.zeros(n)
    # dlb: parallel, BLOCK, jit, schedule(GSS)
    for i in range(n):
        t = 0.0
        for j in range(20):
            t += (i + j) * 0.25
        a[i] = t
    return a


def objects(n):
    particles = [Particle(float(i)) for i in range(n)]
    # dlb: parallel, schedule(LCDLB)
    for p in particles:
        p.move(0.5)
    return np.array([p.x + p.steps for p in particles])


def failing(n):
    a = np.zeros(n)
    try:
        # dlb: parallel, schedule(GDDLB)
        for i in range(n):
            if i == n // 2:
                raise Refused(i, "as it must be")
            a[i] = i
    except Refused as error:
        return np.array([error.place, a[: n // 2].sum()])
    return a


def whole(n):
    weights, a = np.arange(3000.0), np.zeros(n)
    # dlb: parallel, BLOCK, WHOLE(weights), schedule(FAC2)
    for i in range(n):
        a[i] = weights[i * 7 % 3000] + weights[::300].sum()
    return a


def chosen(n):
    rows = [[float(i)] * 5 for i in range(n)]
    # dlb: parallel, schedule(auto)
    for i in range(n):
        rows[i][0] = sum(rows[i])
    return np.array([row[0] for row in rows])


KINDS = [
    blocks,
    dealt,
    halo,
    reductions,
    printed,
    containers,
    repeated,
    compiled,
    objects,
    failing,
    whole,
    chosen,
]


def probes(count):
    """Handles that each rank gets: they ascend with what is not freed."""
    found = [None] * count
    # dlb: parallel, schedule(none), assume_independent
    for i in range(count):
        found[i] = unseen(0.01)
    return {pid: (communicator, request) for pid, communicator, request in found}


def main():
    calls, every, record = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    ranks, digest = processes(), 0
    with record.open("w") as file:
        for call in range(calls):
            if call % every == 0:
                note = {"calls": call, "ranks": [held(rank) for rank in ranks]}
                if call in (every, (calls - 1) // every * every):
                    note["handles"] = probes(8 * len(ranks))
                print(json.dumps(note), file=file, flush=True)
            kind = KINDS[call % len(KINDS)]
            found = kind(16 + call % 13)
            digest = zlib.crc32(np.ascontiguousarray(found).tobytes(), digest)
    print(f"{digest:08x}")


if __name__ == "__main__":
    main()
