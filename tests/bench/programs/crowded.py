"""Loops on many ranks of one host: ``crowded.py RANKS LAUNCHED RECORD``.

LAUNCHED is when the program was launched, in seconds since the epoch. RECORD gets how long it took to start,
how long loops took, and what part of a processor each rank used while rank 0 computed alone, and while rank 0
had a long iteration.
"""

import json
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from rank_processes import processes, processor_s

started = time.time()


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def used(ranks):
    return [processor_s(rank) for rank in ranks]


count, launched, record = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
ranks, n = processes(), 40 * count
A, B = np.zeros((n, 16)), np.arange(n * 16.0).reshape(n, 16)
digest, times = 0, {}

# dlb: parallel, BLOCK, schedule(GDDLB)
for i in range(n):
    A[i, :] = np.sqrt(B[i, :])
first = time.time()

before = used(ranks)
busy(3.0)
alone = [(after - earlier) / 3.0 for after, earlier in zip(used(ranks), before)]

begin = time.perf_counter()
# dlb: parallel, BLOCK, schedule(GDDLB)
for i in range(n):
    A[i, :] += B[i, :] * i
times["GDDLB"] = time.perf_counter() - begin
digest = zlib.crc32(A.tobytes(), digest)

begin = time.perf_counter()
# dlb: parallel, BLOCK, schedule(LCDLB)
for i in range(1, n - 1):
    A[i, :] += B[i - 1, :] - B[i + 1, :]
times["LCDLB"] = time.perf_counter() - begin
digest = zlib.crc32(A.tobytes(), digest)

total = 0.0
begin = time.perf_counter()
# dlb: parallel, reduction(total), schedule(steal)
for i in range(n):
    total += i / 7.0
times["steal"] = time.perf_counter() - begin

begin = time.perf_counter()
# dlb: parallel, CYCLIC, schedule(FAC2)
for i in range(n):
    A[i, 0] = i * 0.5
times["FAC2"] = time.perf_counter() - begin
digest = zlib.crc32(A.tobytes(), digest)

begin = time.perf_counter()
# dlb: parallel, BLOCK, schedule(diffusion)
for i in range(n):
    A[i, 1] = i * 0.25
times["diffusion"] = time.perf_counter() - begin
digest = zlib.crc32(A.tobytes(), digest)

begin = time.perf_counter()
# dlb: parallel, schedule(SS)
for i in range(n):
    if i % 50 == 0:
        print("line", i)
times["SS"] = time.perf_counter() - begin

before = used(ranks)
begin = time.perf_counter()
# dlb: parallel, BLOCK, schedule(none)
for i in range(count):
    if i == 0:
        end = time.perf_counter() + 3.0
        while time.perf_counter() < end:
            pass
    A[i, 2] = i
took_s = time.perf_counter() - begin
within = [(after - earlier) / took_s for after, earlier in zip(used(ranks), before)]

print(f"{zlib.crc32(A.tobytes(), digest):08x}", total.hex(), n)
figures = {
    "ranks": count, "start_s": started - launched, "first_loop_s": first - started,
    "loops_s": times, "alone": alone, "within": within,
}  # fmt: skip
record.write_text(json.dumps(figures))
