"""What functions do, told by the names of objects alone: parts of parts do not multiply what a walk holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.analysis.walk_code import walk_code
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Origin
from dlbc.ir.loop import Module
from dlbc.ir.region import CodeRegion, ModuleNames
from dlbc.parse.find_modules import ModuleFinder, SearchPath
from dlbc.parse.read_source import parse_module
from dlbc.passes.resolve_names import resolve_module
from dlbc.passes.survey_program import survey_module
from dlbc.source import Source

#: Each value may be any part of the values before it.
PARTS = "".join(f"    b = unseen(a[{k}], b[{k}], b)[{k}]\n" for k in range(3))
FUNCTION = f"def f(a):\n    b = a\n{PARTS}    b[0] = 1\n    return b\n"


def parsed(text: str) -> Module:
    module = parse_module(Source("program.py", text.encode(), text))
    assert not isinstance(module, Diagnostic)
    return module


def origins(names: ModuleNames, by_name: bool) -> set[Origin]:
    (function,) = names.functions["f"]
    parameters = frozenset({"a"})
    region = CodeRegion(
        tuple(function.body), frozenset({"a", "b"}), names, parameters=parameters, by_name=by_name
    )  # type: ignore[arg-type]
    return {o for result in walk_code(region).results for o in (*result.points_to, *result.reachable)}


def test_parts_of_parts_are_one_object_by_name() -> None:
    names = resolve_module(parsed(FUNCTION))
    fine, coarse = origins(names, by_name=False), origins(names, by_name=True)
    assert {(o.kind, o.name) for o in coarse} == {(o.kind, o.name) for o in fine}
    assert not any(o.subscripts for o in coarse)
    assert len(coarse) < 10 < len(fine)


def test_a_change_of_a_part_is_one_of_the_parameter() -> None:
    names, summaries = survey_module(parsed(FUNCTION))
    (function,) = names.functions["f"]
    assert summaries.of[function].mutated_parameters == {"a"}


def test_a_module_is_read_once_whichever_path_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helpers.py").write_text("def g(a):\n    return a\n")
    monkeypatch.chdir(tmp_path)
    finder = ModuleFinder(parsed("import helpers\n").source, SearchPath())
    near, far = finder.parsed(Path("helpers.py")), finder.parsed(tmp_path / "helpers.py")
    assert near is not None
    assert near is far
