"""Help lines fit the case that they stand in, and use the program's names."""

from __future__ import annotations

import pytest

from dlbc.diagnostics.catalogue import CATALOGUE
from tests.dlbc.passes.planning import results_of

HEAD = "import io, os\nimport numpy as np\nimport pandas as pd\na = np.zeros(n)\nb = np.arange(n)\n"
COUNTER = "class C:\n    def add(self, x):\n        self.k[x] = 1\n        return self.add(x - 1)\ns = C()\n"
TOTAL = "def f(x):\n    global total\n    total += x\n    return x\n"
MEMO = "def f(x):\n    if x not in memo:\n        memo[x] = 1\n    return memo[x]\nmemo = {}\n"
ITEMS = "class C:\n    def __init__(self):\n        self.x, self.k = 1, []\ns = [C() for _ in range(n)]\n"

CASES = [
    ("DLB301", "", "a[i] = a[i - 1] + 1", "`old = a.copy()`"),
    (
        "DLB301",
        "class C:\n    pass\ns = C()\ns.x = np.zeros(9)\n",
        "s.x[i] = s.x[i - 1]",
        "`old = s.x.copy()`",
    ),
    ("DLB306", "", "a[i] = a[i] / a.sum()", "where all of `a` is used"),
    (
        "DLB306",
        "tmp = np.ones(4)\n",
        "tmp[:] = b[i]; a[i] = tmp.sum()",
        "move `tmp = np.ones(4)` into the body",
    ),
    ("DLB302", "", "row = a[i - 1]; row[0] = a[i, 0]", "copy what is read before the loop"),
    ("DLB306", "df = pd.Series()\n", "df.iloc[i] = 1", "put it back after the loop (`df[:] = values`)"),
    ("DLB306", "df = pd.DataFrame()\n", "df.loc[i, 'y'] = 1", "`values = df['y'].to_numpy(copy=True)`"),
    ("DLB306", "df = pd.DataFrame()\n", "df.iloc[i, 2] = 1", "`df.iloc[:, 2] = values`"),
    ("DLB306", "m = {}\n", "m[i] = 1 if i not in m else m[i]", "what `m` remembers"),
    ("DLB306", "m = {}\n", "m[b[i]] = 1 if b[i] in m else 0; m[b[i]] -= 2", "`m[b[i]] = m.get(b[i], 0) - 2`"),
    ("DLB306", "m = {}\n", "if i in m: m[i].append(b)", "`m.setdefault(i, []).append(b)`"),
    ("DLB306", "m = {}\n", "m.setdefault(b[i], [0, 0]); m[b[i]][0] += 2", "first.get(b[i], 0) + 2`"),
    ("DLB306", "m = {}\n", "m[b[i].name()] = m.get(b[i].name(), 0) + 1", "`m[key] = m.get(key, 0) + 1`"),
    ("DLB302", "m = dict(b)\n", "m[b[i]]['n'] += 1", "`first[b[i]] = first.get(b[i], 0) + 1`"),
    ("DLB306", "m = {}\n", "m.setdefault(b[i], {}); m[b[i]]['n'] = len(m)", "`item = m[key] = ...`"),
    ("DLB302", "m = {}\n", "m[b[i]] = {'n': 0}; m[b[i]]['n'] += i", "`item = m[b[i]] = {'n': 0}`"),
    ("DLB302", "m = {}\n", "x = b[i:]; m[b[i]] = x; m[b[i]][0] = 2", "stored `x` there, write `x`"),
    ("DLB302", "m = {}\n", "m[b[i]] = b[i:]; m[b[i]][0] = 2", "`item = m[b[i]] = b[i:]`, and use"),
    ("DLB306", "m = {}\n", "m.setdefault(b[i], {})[i] = 1", "`m[b[i], i] = ...`"),
    ("DLB420", "import collections as c\nm = c.defaultdict(dict)\n", "m[i][b[i]] = 1", "`m[i, b[i]]`"),
    ("DLB306", "m = {}\n", "if i not in m: m[i] = []; m[i].extend(b)", "`m.setdefault(i, [])`"),
    ("DLB301", "", "a[0] += a[i]", "read `a[0]` into it before the loop"),
    ("DLB301", "", "for j in range(9): a[j] += a[j - 1]", "`private(a)`"),
    ("DLB303", "", "a[3] = max(a[3], a[i])", "read `a[3]` into it before the loop"),
    ("DLB304", "", "os.environ['A'] = str(i)", "set the environment before the loop"),
    ("DLB304", "r = np.zeros(n, 'f,f')\n", "r['f0'][i] = i; r[i]['f1'] = 1", "`r['f1'][i]`"),
    (
        "DLB410",
        "def f(u):\n    def g():\n        u[0] = 1\n    g()\n",
        "f(a)",
        "store or add that in the body",
    ),
    ("DLB310", "p = 0\n", "a[i] = b[i] - p; p = b[i]", "(it was `b[i]`)"),
    ("DLB310", "p = 0\n", "p = np.cos(p)", "leave this loop sequential"),
    ("DLB310", "", "for k in b: p = k\n    a[i] = p", "before the inner loop, which may not run"),
    ("DLB310", "", "if b[i]: p = 1\n    a[i] = p", "bind `p` on every path"),
    ("DLB311", "p = 0\n", "p = 0.9 * p + b[i]", "leave this loop sequential"),
    ("DLB311", "p = 0\n", "p = p / b[i]; a[i] = p", "leave this loop sequential"),
    ("DLB311", "p = 0\n", "p = p / b[i]", "`p += e`"),
    ("DLB310", "p = a\n", "p = np.maximum(b * i, p)", "`np.maximum(b * i, p, out=p)`"),
    ("DLB310", "p = a > 1\n", "p = np.logical_or(p, b > i)", "`p |= b > i`"),
    ("DLB310", "p = a\n", "p = np.append(p, i)", "`parts.append(e)`"),
    ("DLB324", "t = np.ones(4)\n", "np.copyto(t, i); t += 1; a[i] = t.sum()", "`private(t)`"),
    ("DLB324", "t = np.ones(4)\n", "t[:] = b[i]; t *= 2; a[i] = t.sum()", "`private(t)`"),
    ("DLB324", "t = np.ones(4)\n", "t += 1; a[i] = t.sum()", "`items.append(e)`"),
    ("DLB402", "g = open('o', 'w')\n", "print(i, file=g)", "`g.write(text.getvalue())`"),
    ("DLB402", "", "np.save(f'o{i}.npy', a)", "(`f'o{i}.npy'`), add `assume_independent`"),
    ("DLB402", "", "os.chdir('x')", "`os.chdir` changes"),
    ("DLB402", "import csv\nw = csv.writer(open('o', 'w'))\n", "w.writerow([i, 2])", "`rows.append([i, 2])`"),
    ("DLB404", "import random\n", "a[i] = random.random()", "`random.seed(s + i)`"),
    ("DLB407", "todo = list(b)\n", "a[i] = todo.pop()", "`todo[i]`"),
    ("DLB407", "todo = list(b)\n", "todo.sort()", "`sorted(todo)`"),
    ("DLB409", TOTAL, "a[i] = f(i)", "`total += ...`"),
    ("DLB409", MEMO, "a[i] = f(i)", "`@functools.lru_cache`"),
    ("DLB410", COUNTER, "a[i] = s.add(i)", "leave `s` alone"),
    ("DLB410", "", "np.sqrt(b, out=a)", "`out=a[i]`"),
    ("DLB410", "def f(u):\n    u[0] = 1\n    f(u)\n", "f(a)", "`a[i]`"),
    ("DLB306", "def f(u):\n    u[0] = 1\n    return u\n", "f(a)", "`a[i]`"),
    ("DLB306", ITEMS, "p = s[i]; p.k.append([o.x for o in s])", "`read = [(item.x, item.y) for item in s]`"),
    ("DLB306", ITEMS, "p = s[i]; p.k.append([o.x for _, o in enumerate(s)])", "for item in s]`"),
    ("DLB417", "it = iter(b)\n", "a[i] = next(it)", "`items = list(it)`"),
    ("DLB417", "import itertools\nit = itertools.count()\n", "a[i] = next(it)", "gives from `i`"),
    ("DLB407", "m = set(b)\n", "m.discard(b[i])", "`gone.append(b[i])`"),
    ("DLB407", "m = {}\n", "a[i] = m.pop(b[i], 0)", "`gone.append(b[i])`"),
    ("DLB407", "todo = list(b)\n", "a[i] = todo.pop(-1)", "`todo[i]`"),
    ("DLB410", "import bisect\nm = []\n", "bisect.insort(m, b[i])", "`found.append(b[i])`"),
    ("DLB410", "import random\n", "m = b[:]; random.Random(i).shuffle(m)", "`list(b)`"),
    ("DLB402", "import subprocess\n", "a[i] = subprocess.call(['true', str(i)])", "each other's way"),
    ("DLB315", "m = [b]\n", "v = m[0]; v *= 2; a[i] = v[0]", "`v = v * 2`"),
    ("DLB412", "import logging\n", "logging.info(i)", "rank 0 handles its records"),
    ("DLB412", "from elsewhere.part import f\n", "a[i] = f(i)", "`--follow elsewhere`"),
    (
        "DLB412",
        "import code\n",
        "a[i] = code.InteractiveInterpreter().runsource('1')",
        "nothing to do if that is so, and",
    ),
    ("DLB410", "import struct\nm = bytearray(9)\n", "struct.pack_into('b', m, i, 1)", "`pieces[i] ="),
]


@pytest.mark.parametrize(("code", "before", "body", "said"), CASES)
def test_the_help_fits_the_case(code: str, before: str, body: str, said: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("; "))
    [(_, findings)] = results_of(f"{HEAD}{before}# dlb: parallel\nfor i in range(1, n):\n{lines}print(a)\n")
    assert said in " ".join(finding.help for finding in findings if finding.code == code)


def test_an_iterator_that_is_read_on_is_reported_once() -> None:
    [(_, findings)] = results_of(
        f"{HEAD}it = iter(b)\n# dlb: parallel\nfor i in range(n):\n    a[i] = next(it)\n"
    )
    assert [finding.code for finding in findings] == ["DLB417"]


def test_next_of_nothing_or_of_unpacked_arguments_is_read_too() -> None:
    for body, codes in (("next()", []), ("next(*it)", ["DLB417"])):
        [(_, found)] = results_of(
            f"{HEAD}it = iter(b)\n# dlb: parallel\nfor i in range(n):\n    a[i] = {body}\n"
        )
        assert [finding.code for finding in found] == codes


def test_what_changes_an_object_is_said_once() -> None:
    body = "    m.setdefault(k, {})[v] = k + v\n"
    [(_, findings)] = results_of(f"m = {{}}\n# dlb: parallel\nfor k, v in b:\n{body}")
    assert [finding.code for finding in findings] == ["DLB306"]


def test_the_help_for_what_is_asserted_without_a_number() -> None:
    text = "m = [0] * 9\n# dlb: parallel, assume_independent\nfor k in (2, 3):\n    m[k] = -m[k + 1]\n"
    [(_, [finding])] = results_of(text)
    assert "`enumerate(...)`" in finding.help


@pytest.mark.parametrize(
    ("over", "body", "said"),
    [
        ("k in m", "m[k] = [m[k]]", "`m.update(new)` after the loop"),
        ("k, v in m.items()", "m[k] = v + 1", "`m.update(new)` after the loop"),
        ("k in names", "m[k] = -m[k]", "`new[k] = ...`"),
        ("k in names", "m['max'][k['a']] = 1", "`m['max'].update(new)` after the loop"),
        ("k in names", "m[k][0] = 1", "loop over `range(...)` or `enumerate(...)`"),
    ],
)
def test_the_help_for_a_dictionary_that_is_stored_to(over: str, body: str, said: str) -> None:
    [(_, [finding])] = results_of(f"m = {{}}\n# dlb: parallel\nfor {over}:\n    {body}\n")
    assert said in finding.help


def test_what_no_case_fits_keeps_the_help_of_its_code() -> None:
    [(_, [finding])] = results_of("# dlb: parallel\nfor i in range(n):\n    y = open(name, 'w')\n")
    assert finding.help == CATALOGUE["DLB402"].help
