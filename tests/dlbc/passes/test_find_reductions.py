"""What iterations contribute to: taken in every spelling, refused where another iteration is seen."""

from __future__ import annotations

import pytest

from dlbc.ir.plan import LoopPlan
from tests.dlbc.passes.planning import codes_of, plan_of

BEFORE = (
    "import numpy as np\nimport math\nimport sys\n"
    "def start():\n    return next(iter((1,)))\n"
    "s = t = best = where = low = start()\nX = Y = start()\nn = 9\n"
    "items, d, hist = start(), start(), start()\n"
)


def text_of(body: str, clauses: str = "", before: str = "", space: str = "i in range(n)") -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{BEFORE}{before}# dlb: parallel{', ' if clauses else ''}{clauses}\nfor {space}:\n{lines}"


def shown(plan: LoopPlan) -> list[str]:
    """The contributions in short: ``s + several``, ``best < where``, ``hist[] + integer``, ``items 2``."""
    found = []
    for r in plan.reductions:
        words = {"several": r.multiple_updates, "integer": r.integer, "any": r.any_order}
        name = r.name + ("[]" if r.element else "")
        part = [r.by] if r.by else []
        found.append(
            " ".join([name, r.operator, *part, *r.companions, *(w for w, holds in words.items() if holds)])
        )
    return found + [f"{o.name} {len(o.effects)}" for o in plan.ordered]


NAMES = [
    ("s += X[i]", "s +"),
    ("s += 1", "s + integer"),
    ("s += i * 2", "s + integer"),
    ("s -= X[i]", "s -"),
    ("s *= X[i]", "s *"),
    ("s &= X[i]", "s &"),
    ("s |= X[i]", "s |"),
    ("s ^= X[i]", "s ^"),
    ("s = s + X[i]", "s +"),
    ("s = X[i] + s", "s +"),
    ("s = s - X[i]", "s -"),
    ("s = s + X[i] - Y[i]", "s -"),
    ("s = X[i] + s + Y[i]", "s +"),
    ("s = X[i] * (Y[i] * s)", "s *"),
    ("s += X[i]\ns += Y[i]", "s + several"),
    ("s += X[i]\ns -= Y[i]", "s -"),
    ("s += X[i]\ns = Y[i] + s", "s +"),
    ("for j in X[i]:\n    s += j", "s + several"),
    ("while X[i].go():\n    s *= 2.0", "s * several"),
    ("if X[i]:\n    s += X[i]\nelse:\n    s += 1.0", "s +"),
    ("if X[i]:\n    s += X[i]\ns += 1.0", "s + several"),
    ("match i:\n    case 0:\n        s += 1.0\n    case _:\n        s += 2.0", "s +"),
    ("try:\n    s += X[i]\nexcept OSError:\n    s += 1.0", "s + several"),
    ("if not X[i]:\n    continue\ns += X[i]", "s +"),
    ("s = max(s, X[i])", "s max"),
    ("s = max(X[i], s)", "s max"),
    ("s = min(s, X[i], Y[i])", "s min"),
    ("s = max(s, X[i])\ns = max(Y[i], s)", "s max"),
    ("s = s and X[i] > 0", "s and"),
    ("s = s or X[i] > 0 or len(Y[i]) > 2", "s or"),
    ("s = s and bool(X[i].all())", "s and"),
    ("if X[i] > best:\n    best = X[i]", "best >"),
    ("if best < X[i]:\n    best = X[i]", "best >"),
    ("if X[i] <= best:\n    best, where = X[i], i", "best <= where"),
    ("v = X[i].f()\nif v < best:\n    best = v\n    where = i\n    t = v * 2", "best < where t"),
    ("if (v := X[i].f()) < best:\n    best, where = v, i", "best < where"),
    ("for j in range(n):\n    if X[i, j] > best:\n        best, where = X[i, j], (i, j)", "best > where"),
    ("if X[i] > best:\n    best = X[i]\nelse:\n    pass", "best >"),
    ("if Y[i] and X[i] > best:\n    best = X[i]", "best >"),
    ("if Y[i]:\n    if X[i] > best:\n        best = X[i]", "best >"),
    ("best = X[i] if X[i] > best else best", "best >"),
    ("v = X[i]\nif v > best[0]:\n    best = v, i", "best > [0]"),
    ("v = X[i]\nif best is None or best[1] > v:\n    best = [i, v]", "best < [1]"),
    ("v = X[i]\nif v > best['v']:\n    best, where = {'i': i, 'v': v}, i", 'best > ["v"] where'),
    ("if (v := X[i]) > best[0]:\n    best = v, i", "best > [0]"),
    ("v = X[i]\nbest = (v, i) if v > best[0] else best", "best > [0]"),
    ("if X[i].cost < best.cost:\n    best = X[i]", "best < .cost"),
    (
        "v = X[i]\nif best is None:\n    best = v, i\nelif v > best[0]:\n    best = v, i",
        "best > [0]",
    ),
    (
        "v = X[i]\nif best is None:\n    best, where = v, i\nelif v > best:\n    best, where = v, i",
        "best > where",
    ),
    ("p = X[i]\nif best is None:\n    best = p\nelif p.v > best.v:\n    best = p", "best > .v"),
    ("p = X[i]\nif p[0] < best[0]:\n    best = p", "best < [0]"),
]


@pytest.mark.parametrize(("body", "expected"), NAMES, ids=[c[0] for c in NAMES])
def test_reductions_of_names(body: str, expected: str) -> None:
    assert shown(plan_of(text_of(body))) == [expected]


ELEMENTS = [
    ("hist[X[i]] += 1", "hist[] + integer"),
    ("hist[X[i]] += i", "hist[] + integer"),
    ("hist[X[i]] += Y[i]", "hist[] +"),
    ("hist[X[i]] -= 1\nhist[Y[i]] += 1", "hist[] - integer"),
    ("hist[X[i]] = hist[X[i]] + Y[i]", "hist[] +"),
    ("hist[X[i]] = Y[i] * hist[X[i]]", "hist[] *"),
    ("hist[int(X[i])] = hist[int(X[i])] + 1", "hist[] + integer"),
    ("hist[X[i]] = max(hist[X[i]], Y[i])", "hist[] max"),
    ("hist[X[i]] = min(Y[i], hist[X[i]])", "hist[] min"),
    ("hist[X[i]] = hist[X[i]] or Y[i] > 0", "hist[] or"),
    ("d[X[i]] = d.get(X[i], 0) + 1", "d[] + integer"),
    ("np.add.at(hist, X[i], 1)", "hist[] + integer"),
    ("np.maximum.at(hist, X[i], Y[i])", "hist[] max"),
    ("hist[0] += X[i]", "hist[] +"),
    ("hist[i // 2] += X[i]", "hist[] +"),
    ("hist[:] += X[i]", "hist[] +"),
    ("np.maximum(hist, X[i], out=hist)", "hist[] max"),
    ("np.add(X[i], hist, out=hist)", "hist[] +"),
    ("s.hist[X[i]] += 1", "s.hist[] + integer"),
    ("s['n'] += 1", "s[] + integer"),
    ("s.stats['n'] += X[i]", "s.stats[] +"),
    ("s['hist'][X[i]] += 1", 's["hist"][] + integer'),
]


PATHS = [
    ("s.total += X[i]", ["s.total +"]),
    ("s.total = max(X[i], s.total)", ["s.total max"]),
    ("s.total += t.total", ["s.total +"]),
    ("s.total += s.scale * X[i]\ns.n -= 1", ["s.total +", "s.n - integer"]),
    ("s.part.n += 1", ["s.part.n + integer"]),
    ("s['n'] += 1\ns['max'] = max(s['max'], X[i])", ['s["n"] + integer', 's["max"] max']),
    ("s[0] = min(s[0], X[i])\ns[1] = max(s[1], X[i])", ["s[0] min", "s[1] max"]),
    ("v = X[i]\nif v < s['v']:\n    s['v'] = v\n    s['i'] = i", ['s["v"] < s["i"]']),
    ("v = X[i]\nif s.best is None or v < s.best:\n    s.best, where = v, i", ["s.best < where"]),
    ("if best is None or X[i] > best:\n    best = X[i]", ["best >"]),
    ("if X[i]:\n    s.found = X[i]", ["s.found ="]),
    ("s.total += 1\ns.items.append(i)", ["s.total + integer", "s.items 1"]),
    ("s += 1\nt.n += 1", ["s + integer", "t.n + integer"]),
]


@pytest.mark.parametrize(("body", "expected"), PATHS, ids=[c[0] for c in PATHS])
def test_reductions_of_values_in_objects(body: str, expected: list[str]) -> None:
    assert shown(plan_of(text_of(body))) == expected


@pytest.mark.parametrize(("body", "expected"), ELEMENTS, ids=[c[0] for c in ELEMENTS])
def test_reductions_of_elements(body: str, expected: str) -> None:
    assert shown(plan_of(text_of(body))) == [expected]


ORDERED = [
    ("items.append(X[i])", "items 1"),
    ("items.append(X[i])\nitems.extend([i, i])", "items 2"),
    ("items.extend(x for x in X[i])", "items 1"),
    ("if X[i]:\n    items.appendleft(i)", "items 1"),
    ("for x in X[i]:\n    items.add(x)", "items 1"),
    ("d[X[i]] = i", "d 1"),
    ("d[X[i]] = i\nd[Y[i]] = i", "d 2"),
    ("d[X[i], i] = Y[i]", "d 1"),
    ("items.insert(0, i)", "items 1"),
    ("d.update({X[i]: i}, last=i)", "d 1"),
    ("d.setdefault(X[i], i)", "d 1"),
    ("items.update(X[i])\nitems.add(i)", "items 2"),
    ("d[X[i]].append(i)", "d 1"),
    ("d.setdefault(X[i], []).append(i)", "d 1"),
    ("s.items.append(i)", "s.items 1"),
    ("s['errors'].append(i)", 's["errors"] 1'),
    ("s.groups[X[i]].extend([i])", "s.groups 1"),
]


@pytest.mark.parametrize(("body", "expected"), ORDERED, ids=[c[0] for c in ORDERED])
def test_ordered_effects(body: str, expected: str) -> None:
    assert shown(plan_of(text_of(body))) == [expected]


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("m.setdefault(X[i], []).append(i)", []),
        ("m[X[i]] = list(Y)\nm[X[i]].append(i)", []),
        ("m[X[i]] = x = [i]\nm[X[i]].append(i)\nY[i] = len(x)", ["DLB302"]),
        ("x = [i]\nm[X[i]] = x\nm[X[i]].append(i)\nY[i] = len(x)", ["DLB302"]),
        ("x = [i]\nm.setdefault(X[i], x).append(i)\nY[i] = len(x)", ["DLB407", "DLB406"]),
        ("m.update({X[i]: Y})\nm[X[i]].append(i)", ["DLB306"]),
        ("items.append(Y)\nitems[i].append(i)", ["DLB306", "DLB406"]),
    ],
)
def test_what_is_added_to_an_item_is_seen_under_its_other_names(body: str, codes: list[str]) -> None:
    text = text_of(body, before="m = {}\nitems = []\n" if "m[" in body or "m." in body else "")
    assert codes_of(text) == codes


PLAIN = [
    "hist[i] += 1",
    "hist[i, X[i]] += 1",
    "hist[2 * i] += 1\nhist[2 * i + 1] += 2",
    "hist[i] = X[i]",
    "s = 0\ns += X[i]\nY[i] = s",
    "best = X[i]\nif Y[i] > best:\n    best = Y[i]",
]


@pytest.mark.parametrize("body", PLAIN)
def test_what_iterations_have_of_their_own_is_no_contribution(body: str) -> None:
    assert shown(plan_of(text_of(body))) == []


REFUSED = [
    ("s += X[i]\nY[i] = s", ["DLB324"]),
    ("Y[i] = s\ns += X[i]", ["DLB324"]),
    ("s += s * X[i]", ["DLB324"]),
    ("s = s + s", ["DLB324"]),
    ("s += X[i]\ns = 0", ["DLB324"]),
    ("s += sum(s for x in X[i])", ["DLB324"]),
    ("if s < 5:\n    s += 1", ["DLB324"]),
    ("def f():\n    return s\ns += X[i]", ["DLB324"]),
    ("s += X[i]\ns *= 2", ["DLB325"]),
    ("s = max(s, X[i])\ns = min(s, 9)", ["DLB325"]),
    ("s /= X[i]", ["DLB311"]),
    ("s = X[i] - s", ["DLB311"]),
    ("s = s * 2 + X[i]", ["DLB311"]),
    ("s = max(s, *X[i])", ["DLB311"]),
    ("s = max(s, X[i], key=abs)", ["DLB311"]),
    ("s = s and start()", ["DLB311"]),
    ("s = X[i] and s", ["DLB311"]),
    ("s = (s + X[i]) % 7", ["DLB311"]),
    ("if X[i] > best:\n    best = Y[i]", ["DLB326"]),
    ("if X[i] > best:\n    best = X[i]\nelse:\n    Y[i] = 0", ["DLB326"]),
    ("if best == None or X[i] > best:\n    best = X[i]", ["DLB326"]),
    ("if where is None or X[i] > best:\n    best, where = X[i], i", ["DLB326", "DLB326"]),
    ("if best is None or best is None:\n    best = X[i]", ["DLB326"]),
    ("if X[i] > best and Y[i]:\n    best = X[i]", ["DLB326"]),
    ("if X[i] > best:\n    where, best = best, X[i]", ["DLB326"]),
    ("if X[i] > best:\n    best = X[i]\n    Y[i] = 1", ["DLB326"]),
    ("if start() > best:\n    best = start()", ["DLB326"]),
    ("if X[i] > best:\n    best, where = X[i], i\nY[i] = where", ["DLB326"]),
    ("v = X[i]\nif v > best[1]:\n    best = v, i", ["DLB326"]),
    ("v = X[i]\nif v > best[2]:\n    best = v, i", ["DLB326"]),
    ("v = X[i]\nif v > best[0]:\n    best = *Y, v", ["DLB326"]),
    ("v = X[i]\nif v > best['v']:\n    best = {**Y, 'v': v}", ["DLB326"]),
    ("v = X[i]\nif v > best['v']:\n    best = {'v': v, n: i}", ["DLB326"]),
    ("v = X[i]\nif best is None:\n    best = v, i\nelif v > best[0]:\n    best = v, n", ["DLB324"]),
    ("v = X[i]\nif where is None:\n    best = v\nelif v > best:\n    best = v", ["DLB324"]),
    ("v = X[i]\nif v > best[1]:\n    best = {1: v, True: i}", ["DLB326"]),
    ("v = X[i]\nif v > best['']:\n    best = {'': v}", ["DLB326"]),
    ("v = X[i]\nif v > best[1.5]:\n    best = {1.5: v}", ["DLB326"]),
    ("v = X[i]\nif v > best['a]b']:\n    best = {'a]b': v}", ["DLB326"]),
    ("v = X[i]\nif v > best[0]:\n    best = v, i\nif v > best[1]:\n    best = i, v", ["DLB326"]),
    ("v = X[i]\nif v > best[0]:\n    best = v, i\nY[i] = best[1]", ["DLB324"]),
    ("p = X[i]\nif p.cost < best.cost:\n    best = p\np.cost = 0", ["DLB326"]),
    ("p = X[i]\nif p.cost < best.cost:\n    best = p\np.cost += 1", ["DLB326"]),
    ("for p in X[i]:\n    if p.cost < best.cost:\n        best = p", ["DLB326"]),
    ("p = X[i]\nif p._cost < best._cost:\n    best = p", ["DLB326"]),
    ("if X[i] > best:\n    best, where = X[i], i\nelse:\n    where = 0", ["DLB326"]),
    ("if X[i] > best:\n    best, where = X[i], i\nif Y[i] > best:\n    best = Y[i]", ["DLB326"]),
    ("if X[i] > best:\n    best = X[i]\nif Y[i] < best:\n    best = Y[i]", ["DLB325"]),
    ("if X[i] != best:\n    best = X[i]", ["DLB326"]),
    ("if X[i] > best:\n    best, where = X[i], start()", ["DLB326"]),
    ("if X[i] > best:\n    best, where = X[i], print(i)", ["DLB326"]),
    ("items.append(X[i])\nY[i] = len(items)", ["DLB406"]),
    ("items.append(items)", ["DLB406"]),
    ("Y[i] = items.append(X[i])", ["DLB406"]),
    ("items[0].append(len(items))", ["DLB406"]),
    ("items.append(lambda: i)", ["DLB314"]),
    ("items.append(x for x in range(i))", ["DLB314"]),
    ("hist[start()] += 1\nY[i] = hist[0]", ["DLB305"]),
    ("hist[start()] += hist[start()]", ["DLB305"]),
    ("hist[start()] += 1\nhist[start()] *= 2", ["DLB305"]),
    ("hist[start()] = hist[start()] + 1", ["DLB304"]),
    ("hist[start()][0] += 1", ["DLB304"]),
    ("hist[0] = X[i]", ["DLB303"]),
    ("hist[i // 2] = X[i]", ["DLB303"]),
]


CAUGHT = [
    ("try:\n    d[X[i]] += 1\nexcept KeyError:\n    s += 1", ["DLB328"]),
    ("try:\n    s += X[i]\nexcept (KeyError, TypeError):\n    pass", ["DLB328"]),
    ("try:\n    d[X[i]].append(i)\nexcept KeyError:\n    d[X[i]] = [i]", ["DLB328"]),
    ("try:\n    d[X[i]].append(i)\nexcept KeyError:\n    d.setdefault(X[i], [])", ["DLB328"]),
    ("try:\n    s += X[i]\nexcept ERRORS:\n    pass", ["DLB328"]),
    ("try:\n    s += X[i]\nfinally:\n    continue", ["DLB328"]),
    ("with suppress(TypeError):\n    s += X[i]", ["DLB328"]),
    ("with np.errstate():\n    s += X[i]", []),
    ("try:\n    s += float(X[i])\nexcept ValueError:\n    pass", []),
    ("try:\n    v = int(X[i])\n    s += v * 2\nexcept Exception:\n    pass", []),
    ("try:\n    s += X[i]\nexcept OSError:\n    pass", []),
    ("try:\n    v = Y[i]\nexcept KeyError:\n    pass\nelse:\n    s += v", []),
    ("try:\n    items.append(X[i])\nexcept Exception:\n    s += 1", []),
    ("try:\n    hist[i] += X[i]\nexcept Exception:\n    s += 1", []),
]


@pytest.mark.parametrize(("body", "codes"), CAUGHT, ids=[c[0] for c in CAUGHT])
def test_updates_whose_failure_the_body_would_catch(body: str, codes: list[str]) -> None:
    assert [c for c in codes_of(text_of(body)) if c != "DLB412"] == codes


@pytest.mark.parametrize(("body", "codes"), REFUSED, ids=[c[0] for c in REFUSED])
def test_refused(body: str, codes: list[str]) -> None:
    assert codes_of(text_of(body)) == codes


def test_the_clause_gives_up_the_order() -> None:
    plan = plan_of(text_of("s += X[i]\nhist[X[i]] += Y[i]\nt += 1", "reduction(s, hist, order=any)"))
    assert shown(plan) == ["s + any", "t + integer", "hist[] + any"]


@pytest.mark.parametrize(
    ("body", "clause"),
    [("s = X[i]\nY[i] = s", "s"), ("hist[X[i]] = Y[i]", "hist"), ("X.s += 1", "X.s"), ("Y[i] = X[i]", "X")],
)
def test_a_declared_name_must_be_updated(body: str, clause: str) -> None:
    assert "DLB312" in codes_of(text_of(body, f"reduction({clause})"))


def test_a_name_without_a_value_before_the_loop_is_no_reduction() -> None:
    assert codes_of(text_of("fresh += X[i]")) == ["DLB310"]


def test_a_private_name_is_no_reduction() -> None:
    assert codes_of(text_of("s += X[i]", "private(s)")) == ["DLB310"]


def test_an_array_that_a_clause_deals_is_no_reduction() -> None:
    assert "DLB305" in codes_of(text_of("hist[start()] += 1", "BLOCK(hist)"))


@pytest.mark.parametrize(
    ("space", "body"),
    [
        ("x in items", "items.append(x)"),
        ("x in s", "s += x"),
        ("k in d", "d[k] = 1"),
        ("x in hist", "hist[x] += 1"),
    ],
)
def test_the_loop_runs_over_what_it_adds_to(space: str, body: str) -> None:
    assert codes_of(text_of(body, space=space)) == ["DLB316"]


@pytest.mark.parametrize(
    ("before", "body", "code"),
    [
        ("def f():\n    return s\n", "s += f()", "DLB313"),
        ("def f():\n    return len(items)\n", "items.append(f())", "DLB413"),
        ("def f():\n    return hist[0]\n", "hist[X[i]] += f()", "DLB413"),
        ("def f():\n    return d.copy()\n", "d[X[i]] = f()", "DLB413"),
        ("def f():\n    items.append(1)\n", "f()", "DLB409"),
        ("def f(x):\n    x.append(1)\n", "f(items)", "DLB410"),
        ("def f(x):\n    return x\n", "items.append(1)\nf(items)", "DLB406"),
    ],
)
def test_functions_that_see_what_is_added_to(before: str, body: str, code: str) -> None:
    assert code in codes_of(text_of(body, before=before))


OUTPUT = [
    "print(X[i])",
    "print(X[i], file=sys.stdout)",
    "print(X[i], file=sys.stderr)",
    "sys.stdout.write('x')",
    "say = print\nsay(X[i])",
    "shout(X[i])",
]


@pytest.mark.parametrize("body", OUTPUT)
def test_standard_output_is_kept_in_order(body: str) -> None:
    assert plan_of(text_of(body, before="def shout(x):\n    print(x)\n")).ordered == ()


@pytest.mark.parametrize("body", ["print(X[i], file=log)", "tell(X[i], log)", "log.write('x')"])
def test_files_are_not(body: str) -> None:
    before = "log = open('log', 'w')\ndef tell(x, out):\n    print(x, file=out)\n"
    assert "DLB402" in codes_of(text_of(body, before=before))


SCRATCH = [
    "hist[0] = X[i]\nY[i] = hist[0]",
    "hist[:] = 0\nhist[X[i]] += 1\nY[i] = hist.sum()",
    "hist.sort()\nY[i] = hist[0]",
    "fill(hist)\nY[i] = hist[0]",
]


@pytest.mark.parametrize("body", SCRATCH)
def test_a_private_array_is_a_plain_argument(body: str) -> None:
    text = text_of(body, "private(hist)", "def fill(x):\n    x[0] = 1\n")
    plan = plan_of(text)
    assert "hist" in plan.parameters
    assert "hist" not in [a.name for a in plan.arrays]
    assert codes_of(text.replace("private(hist)", "nofold"))


def test_names_of_reductions_come_before_the_others() -> None:
    plan = plan_of(text_of("Y[i] = X[i] * n\ns += X[i]\nitems.append(t)\nhist[X[i]] += 1"))
    assert plan.parameters == ("Y", "X", "hist", "items", "s", "n", "t")
    assert (plan.definite, plan.conditional) == ((), ())


@pytest.mark.parametrize(
    "made", ["{}", "dict()", "defaultdict(int)", "collections.Counter()", "{k: 0 for k in X}"]
)
@pytest.mark.parametrize(("body", "expected"), [("m[i] += 1", "m[] + integer"), ("m[i] = X[i]", "m 1")])
def test_a_dictionary_has_no_rows(made: str, body: str, expected: str) -> None:
    before = f"import collections\nfrom collections import defaultdict\nm = {made}\n"
    assert shown(plan_of(text_of(body, before=before))) == [expected]


def test_what_may_be_no_dictionary_may_have_rows() -> None:
    assert shown(plan_of(text_of("m[i] = X[i]", before="m = {}\nm = start()\n"))) == []


def test_a_dictionary_that_grows_is_not_read() -> None:
    before = "from collections import defaultdict\nm = defaultdict(int)\n"
    assert "DLB420" in codes_of(text_of("m[i] += 1\nY[i] = m[0]", before=before))


def test_the_word_of_the_user_makes_stores_of_updates_unless_it_says_reduction() -> None:
    assert shown(plan_of(text_of("hist[X[i]] += 1", "assume_independent"))) == []
    both = "assume_independent, reduction(hist)"
    assert shown(plan_of(text_of("hist[X[i]] += 1", both))) == ["hist[] + integer"]
