# expect: DLB504 6:5, DLB006 0:0
from pathlib import Path

lines = ["A = [0.0] * 8", "# dlb: parallel", "for i in range(8):", "    A[i] = i"]
for name in "ab":
    Path(f"/tmp/{name}.py").write_text("\n".join(lines))
