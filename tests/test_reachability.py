"""Every public function of the rooms of models and cuts is reached by a command or by a run on ranks."""

from __future__ import annotations

import ast

from tests.support import reachability
from tests.support.reachability import entry_points, public_functions, unreached


def test_every_public_function_has_an_entry_point() -> None:
    """What only the papers need stands in `samples/papers`."""
    assert unreached() == []


def test_the_walk_tells_what_is_reached_from_what_is_not() -> None:
    points, functions = entry_points(), public_functions()
    assert len(functions) > 150
    reports = ("dlbrt.partition.proportional", "product_bound")
    assert reports in functions
    assert [point for point, reached in points.items() if reports in reached] == ["explain", "rules"]
    cut = ("dlbrt.partition.newton", "Cutter.cuts_at")
    assert {"run", "simulate", "explain"} <= {point for point, reached in points.items() if cut in reached}
    none = points["check"] | points["completion"]
    assert not any(name in none for name in functions)


def test_a_function_that_nothing_names_is_found() -> None:
    module = reachability.modules()["dlbrt.partition.imbalance"]
    module.definitions["nobody"] = list(ast.parse("def nobody(): ...").body)
    try:
        assert unreached() == ["dlbrt.partition.imbalance.nobody"]
    finally:
        del module.definitions["nobody"]
