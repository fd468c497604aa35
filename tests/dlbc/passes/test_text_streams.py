"""Texts in memory that iterations write to, and streams that may be files."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import codes_of, plan_of

HEAD = "import io\nfrom io import StringIO\n"


def program(made: str, body: str) -> str:
    return f"{HEAD}{made}\n# dlb: parallel\nfor i in range(n):\n    {body}\nprint(out)\n"


@pytest.mark.parametrize("made", ["out = io.StringIO()", "out = StringIO('start')"])
@pytest.mark.parametrize(
    "body",
    [
        "print(i, file=out)",
        "out.write(f'{i}')",
        "out.writelines(['a', 'b'])",
        "print('a', i, end='', file=out)",
    ],
)
def test_what_iterations_write_into_a_text_is_kept_in_order(made: str, body: str) -> None:
    [container] = plan_of(program(made, body)).ordered
    assert container.name == "out"


@pytest.mark.parametrize(
    ("made", "body"),
    [
        ("out = open('a', 'w')", "print(i, file=out)"),
        ("out = StringIO() if n else open('a', 'w')", "out.write('a')"),
        ("out = StringIO()", "print(out.tell(), file=out)"),
        ("out = StringIO()", "x = out.write('a')"),
        ("def print(*args, file=None):\n    file.write('b')\nout = StringIO()", "print(i, file=out)"),
    ],
)
def test_other_streams_are_refused(made: str, body: str) -> None:
    assert {"DLB402", "DLB410"} & {*codes_of(program(made, body))}
