"""`dlbc verify` finds a wrong plan in at most 20 runs; and none where the plan is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.commands.compile_program import compile_program
from dlbc.commands.kept_programs import Request, WholeProgram
from dlbc.commands.verify.compare_runs import Search, compare_runs
from dlbc.commands.verify.execute import VerifiedProgram
from tests.mpi.wrong_plans import PROGRAMS, WRONG_PLANS, WrongPlan
from tests.support.tier import part

RUNS = 20
TIMEOUT_S = 60.0


def compiled(name: str, directory: Path) -> WholeProgram:
    """A program, as `dlbc run` compiles it."""
    path = directory / f"{name}.py"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    program = compile_program(Request(path, "", (), (), False)).program
    assert program is not None
    return program


def test_there_are_20_wrong_plans_and_each_can_be_planted(tmp_path: Path) -> None:
    assert len({(plan.program, plan.new, plan.old) for plan in WRONG_PLANS}) >= 20
    texts = {name: compiled(name, tmp_path).generated[0][1].decode() for name in PROGRAMS}
    for plan in WRONG_PLANS:
        compile(plan.planted(texts[plan.program]), plan.name, "exec")


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.parametrize("plan", part(WRONG_PLANS, 16), ids=lambda plan: plan.name.replace(" ", "-"))
def test_verify_finds_a_wrong_plan(plan: WrongPlan, tmp_path: Path) -> None:
    program = compiled(plan.program, tmp_path)
    path, text = program.generated[0]
    wrong = program._replace(generated=((path, plan.planted(text.decode()).encode()),))
    found = compare_runs(VerifiedProgram(wrong), Search((2, 3, 5), RUNS, seed=1, timeout_s=TIMEOUT_S))
    assert found.finding is not None
    assert found.finding.differences


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.parametrize("name", PROGRAMS)
def test_verify_finds_nothing_where_the_plan_is_right(name: str, tmp_path: Path) -> None:
    program = compiled(name, tmp_path)
    found = compare_runs(VerifiedProgram(program), Search((2, 3, 5), 5, seed=1, timeout_s=TIMEOUT_S))
    assert found.finding is None, found.finding.differences
