"""Memory that arrays share with other objects unseen, or through a file: what one stores the others see."""

import array
import ctypes
import mmap
import tempfile

import numpy as np

n = 10


class Holder:
    def __init__(self, content):
        self.content = content


def heading(text, *values):
    print(text, *(value.tolist() if hasattr(value, "tolist") else value for value in values))


# A byte array under an array.
buffer = bytearray(8 * n)
over = np.frombuffer(buffer, dtype=np.float64)
seen = [0] * n
# dlb: parallel, BLOCK
for i in range(n):
    over[i] = i + 1
    seen[i] = buffer[(8 * i + 15) % (8 * n)] > 100
heading("bytearray", over, len(seen))

# A view of an array's memory; one inside an object; parts of it in a list.
values = np.zeros(n)
view = memoryview(values)
holder = Holder(memoryview(values)[2:])
total = [0.0] * n
# dlb: parallel, BLOCK
for i in range(n):
    values[i] = i
    total[i] = view[i] + 1
heading("memoryview", values, total)
# dlb: parallel, BLOCK
for i in range(n - 2):
    values[i + 2] = 3 * i
    total[i] = holder.content[i]
heading("inside an object", values, total)
small = np.zeros(n, np.uint8)
parts = [memoryview(small)[k : k + 1] for k in range(n)]
# dlb: parallel, BLOCK
for i in range(n):
    small[i] = i
    total[i] = parts[i][0]
heading("in a list", small, total)

# The same with an array of Python's, and memory of C.
numbers = array.array("d", range(n))
over = np.frombuffer(numbers)
# dlb: parallel, BLOCK
for i in range(n):
    over[i] = numbers[i] * 2
heading("array.array", numbers)
memory = (ctypes.c_double * n)()
over = np.ctypeslib.as_array(memory)
# dlb: parallel, BLOCK
for i in range(n):
    over[i] = i + memory[i]
heading("ctypes", list(memory))

# Arrays in a list, and in objects in a list, that are views of what is stored to.
grid = np.zeros((n, 2))
rows = [grid[k] for k in range(n)]
held = [Holder({"row": grid[k]}) for k in range(n)]
# dlb: parallel, BLOCK
for i in range(n):
    grid[i] = i
    total[i] = float(rows[i].sum())
heading("views in a list", total)
# dlb: parallel, BLOCK
for i in range(n):
    grid[i] = 2 * i
    total[i] = float(held[i].content["row"].sum())
heading("views in objects", total)

# Files: mapped by hand, twice by numpy, in parts, and only read.
with tempfile.NamedTemporaryFile() as file:
    file.write(bytes(8 * n))
    file.flush()
    mapped = mmap.mmap(file.fileno(), 8 * n)
    over = np.frombuffer(mapped, dtype=np.float64)
    # dlb: parallel, BLOCK
    for i in range(n):
        over[i] = i + mapped[8 * i]
    heading("mmap", over)
    one = np.memmap(file.name, dtype=np.float64, mode="r+", shape=(n,))
    two = np.memmap(file.name, dtype=np.float64, mode="r+", shape=(n,))
    # dlb: parallel, BLOCK
    for i in range(n):
        one[i] = i + 1
        total[i] = float(two[i])
    heading("two memmaps", two, total)
    low = np.memmap(file.name, dtype=np.float64, mode="r+", shape=(n // 2,))
    high = np.memmap(file.name, dtype=np.float64, mode="r+", shape=(n // 2,), offset=4 * n)
    # dlb: parallel, BLOCK
    for i in range(n // 2):
        low[i] = high[i] * 2
    heading("two parts", low, high)
    plain = np.asarray(high)
    # dlb: parallel, BLOCK
    for i in range(n // 2):
        high[i] = plain[i] - 1
    heading("an array over a memmap", one)
    only = np.memmap(file.name, dtype=np.float64, mode="r", shape=(n,))
    # dlb: parallel, BLOCK
    for i in range(n):
        values[i] = only[i] * 2 + only[0]
    heading("only read", values)
    del over, mapped

# What is only read arrives as what it is.
data, doubles = memoryview(bytes(range(n))), memoryview(array.array("d", range(n)))[::-1]
kinds = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    values[i] = data[i] + doubles[i]
    kinds[i] = (
        type(data).__name__,
        data[1:3].tolist(),
        data.readonly,
        doubles.format,
        doubles.shape,
        bytes(data[i:]),
    )
heading("only read", values, kinds[-1], kinds[0] == (*kinds[-1][:-1], bytes(range(n))))
box = {"data": memoryview(numbers), "numbers": numbers}
# dlb: parallel, BLOCK
for i in range(n):
    kinds[i] = {"data": box["data"], "part": data[i:]}
print(all(item["data"] is box["data"] for item in kinds), [item["part"].tolist() for item in kinds])
