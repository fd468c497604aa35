# expect: DLB409 24:14
from dataclasses import dataclass, field

made = [0]


def number():
    made[0] += 1
    return made[0]


@dataclass
class Job:
    size: int
    number: int = field(default_factory=number)


n = 8
out = [None] * n
# making an object runs the factories of its fields
# dlb: parallel
for i in range(n):
    # the call of the class
    out[i] = Job(i)
print(out)
