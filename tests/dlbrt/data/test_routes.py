"""The other way to an object is told as a program would write it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlbrt.data.hazard import reference_path

TABLE: dict[str, int] = {}
ROUND: list[Any] = []
ROUND.append(ROUND)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"table": TABLE, "self": SimpleNamespace(words=["a"], table=TABLE)}, "self.table"),
        ({"table": TABLE, "other": TABLE}, "other"),
        ({"table": TABLE, "rows": [1, (2, TABLE)]}, "rows[1][1]"),
        ({"table": TABLE, "by": {"a": 3, "b": SimpleNamespace(t=TABLE)}}, "by['b'].t"),
        ({"table": TABLE, "deep": [[TABLE]], "near": [TABLE]}, "near[0]"),
        ({"table": TABLE, "other": {}, "round": ROUND, "kind": dict}, None),
        ({"table": TABLE, "many": [[0] * 9_000, list(range(1000)) * 9, TABLE]}, "many[2]"),
        ({"table": TABLE, "more": [*([k] for k in range(20_000)), TABLE]}, None),
    ],
)
def test_the_shortest_way_is_found(names: dict[str, Any], expected: str | None) -> None:
    assert reference_path("table", TABLE, names) == expected
