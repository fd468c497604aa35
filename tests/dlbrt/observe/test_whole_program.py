"""The command that a trace tells of can be typed again; the age of a process counts from its start."""

from __future__ import annotations

import shlex
import time

from dlbrt.observe.whole_program import command_of, process_age_s, traced_program

SCRIPT = ("python", "-m", "dlbrt.script", "plan.json")


def test_a_run_by_dlbc_is_told_with_its_options() -> None:
    environ = {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,3", "DLB_ADAPT": "1", "DLB_TRUST": "0"}
    found = command_of(2, ["a b.py", "--size", "3"], environ | {"DLB_SUMMARY": "1"}, SCRIPT)
    expected = ["dlbc", "run", "-n", "2", "--strategy", "GDDLB", "--adapt", "--load", "fixed:0,3"]
    assert shlex.split(found) == [*expected, "a b.py", "--size", "3"]


def test_a_generated_program_is_told_with_its_environment() -> None:
    environ = {"DLB_TRACE": "my t.json", "DLB_STATS": " "}
    assert command_of(3, ["p_dlb.py", "9"], environ) == "DLB_TRACE='my t.json' mpiexec -n 3 python p_dlb.py 9"
    assert command_of(1, ["p_dlb.py"], {}) == "python p_dlb.py"


def test_the_age_of_a_process_grows_with_the_clock() -> None:
    before, started = process_age_s(), time.perf_counter()
    time.sleep(0.02)
    passed = time.perf_counter() - started
    assert abs(process_age_s() - before - passed) < 0.01
    assert before > 0


def test_starting_is_what_came_before_the_program() -> None:
    age = process_age_s()
    found = traced_program(1, 5.0, age / 2, 0.25, {"ranks": 1})
    assert 0 < found.startup_s <= process_age_s() - age / 2
    assert (found.began, found.tracing_s, found.statistics) == (5.0, 0.25, {"ranks": 1})
    assert traced_program(1, 5.0, 2 * age + 100, 0.0, {}).startup_s == 0.0
