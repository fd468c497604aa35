"""Texts in memory that iterations write to: the lines are in iteration order."""

import io
from io import StringIO

n = 12
out = io.StringIO()
# dlb: parallel
for i in range(n):
    print(i, i * i, file=out)
    if i % 3 == 0:
        out.write(f"fourth {i}\n")
    print("x", end="", file=out, flush=True)
print(out.getvalue(), out.tell())


def report(rows, log):
    text = StringIO("kept ", newline="\r\n")
    text.seek(5)
    # dlb: parallel, CYCLIC
    for i in range(len(rows)):
        text.writelines([f"{rows[i]}\n", "-\n"])
        print(rows[i], sep="", file=text)
        log.append(i)
    return text.getvalue()


log = []
print(repr(report([k * 0.5 for k in range(n)], log)), log)
bad = StringIO()
try:
    # dlb: parallel
    for i in range(n):
        bad.write(f"{i};" if i != 7 else i)
except TypeError as error:
    print(error, bad.getvalue())
