"""What one run measures deals the next: on the same hosts, for the same loop, where it is asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from dlbrt.observe.measurements import read

from tests.support.mpi import Completed, run_mpi, run_sequential, transform

pytestmark = pytest.mark.mpi

PROGRAM = """
import numpy as np

A = np.zeros(400)
print("begins", flush=True)
# dlb: parallel, BLOCK
for i in range(400):
    A[i] = sum(k * 0.5 for k in range(100)) + i
print(A.sum(), A[17])
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    return path


def dlbc(directory: Path, *words: object) -> Completed:
    env = {"XDG_CACHE_HOME": str(directory / "cache"), "DLB_KEEP": "0"}  # measurements are all it keeps
    return run_sequential([sys.executable, "-m", "dlbc", *map(str, words)], env=env, cwd=directory)


def expected(program: Path) -> bytes:
    return run_sequential([sys.executable, str(program)]).stdout


def kept(directory: Path) -> Path:
    [found] = (directory / "cache" / "dlb").iterdir()
    return found


def teach(file: Path, speeds: list[float]) -> None:
    """Have measured these speeds, and that all iterations cost the same."""
    document = json.loads(file.read_text())
    [loop] = document["loops"]
    assert len(loop["speeds"]) == len(speeds)
    loop["speeds"] = speeds
    for density in loop["densities"]:
        density["work"] = [1.0] * len(density["work"])
    file.write_text(json.dumps(document))


def iterations(stats: Path) -> list[int]:
    [loop] = json.loads(stats.read_text())["loops"]
    return [rank["iterations"] for rank in loop["per_rank"]]


def test_a_calibrated_program_is_dealt_by_what_was_measured(program: Path) -> None:
    directory, stats = program.parent, program.with_name("stats.json")
    done = dlbc(directory, "calibrate", "-n", 2, "--stats", stats, program)
    assert (done.status, done.stdout) == (0, expected(program)), done.stderr
    assert iterations(stats) == [200, 200]
    assert "dlbc: prog.py:7: relative speeds" in done.stderr
    teach(kept(directory), [1.0, 3.0])
    options = ["--strategy", "none", "--stats", stats]
    done = dlbc(directory, "run", "-n", 2, *options, "--weights", "last", program)
    assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
    assert iterations(stats) == [100, 300]
    assert json.loads(stats.read_text())["loops"][0]["planned"]["L_I"] == 0
    dlbc(directory, "run", "-n", 2, *options, program)
    assert iterations(stats) == [200, 200]


def test_the_generated_program_knows_what_was_learned_of_its_source(program: Path) -> None:
    directory, stats = program.parent, program.with_name("stats.json")
    assert dlbc(directory, "calibrate", "-n", 2, program).status == 0
    teach(kept(directory), [3.0, 1.0])
    env = {"XDG_CACHE_HOME": str(directory / "cache"), "DLB_STRATEGY": "none"}
    done = generated(program, env | {"DLB_WEIGHTS": "last", "DLB_STATS": str(stats)})
    assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
    assert iterations(stats) == [300, 100]


def generated(program: Path, env: Mapping[str, str], ranks: int = 2) -> Completed:
    path = transform(program, program.parent)
    return run_mpi(ranks, [sys.executable, str(path)], env=env, cwd=program.parent)


def test_weights_that_no_run_has_measured_are_said_to_be_unknown_and_then_known(program: Path) -> None:
    env = {"DLB_WEIGHTS": "last", "DLB_LEARNED": "known.json", "DLB_STRATEGY": "none"}
    first, second = (generated(program, env) for _ in range(2))
    assert first.stdout == second.stdout == expected(program)
    [line] = first.stderr.splitlines()
    assert line.startswith("dlb: prog.py:7: no speeds of these ranks are known")
    assert second.stderr == ""
    third = generated(program, env, ranks=3)
    assert third.stdout == expected(program)
    assert "no speeds of these ranks are known" in third.stderr


def test_nothing_is_kept_unless_asked_for(program: Path) -> None:
    directory = program.parent
    assert dlbc(directory, "run", "-n", 2, "--weights", "1,2", "--strategy", "none", program).status == 0
    assert not (directory / "cache").exists()


@pytest.mark.parametrize(
    ("option", "content", "said"),
    [
        ("learned", "mine", "`dlbc calibrate` has written; found 'notes.txt', which is no JSON"),
        ("model", '{"version": 1, "ranks": 2}', "`--model` has written; found 'notes.txt', which is JSON of"),
    ],
)
def test_a_file_of_something_else_ends_it_before_it_begins(
    program: Path, option: str, content: str, said: str
) -> None:
    notes = program.with_name("notes.txt")
    notes.write_text(content)
    done = generated(program, {f"DLB_{option.upper()}": "notes.txt"})
    assert (done.status, done.stdout) == (2, b""), done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith(f"dlb: DLB_{option.upper()} (--{option}): expected a file that ")
    assert said in line.replace(str(notes), "notes.txt")
    assert notes.read_text() == content


def test_an_old_file_in_the_cache_is_refused_in_one_line_stays_and_stops_nothing(program: Path) -> None:
    env = {"DLB_WEIGHTS": "last", "XDG_CACHE_HOME": str(program.with_name("cache")), "DLB_STRATEGY": "none"}
    assert generated(program, env).status == 0
    file = kept(program.parent)
    old = json.dumps(json.loads(file.read_text()) | {"version": 1})
    file.write_text(old)
    done = generated(program, env)
    assert (done.status, done.stdout) == (0, expected(program)), done.stderr
    refused, unknown = done.stderr.splitlines()
    assert "which has version 1 of its format where version 2 is expected: remove it" in refused
    assert "no speeds of these ranks are known" in unknown
    assert file.read_text() == old
    named = generated(program, env | {"DLB_LEARNED": str(file)})
    assert (named.status, named.stdout, len(named.stderr.splitlines())) == (2, b"", 1)


def test_a_file_that_cannot_be_written_in_the_end_is_said(program: Path) -> None:
    cache = program.with_name("cache")
    cache.write_text("a file, where a directory is needed")
    env = {"DLB_WEIGHTS": "last", "XDG_CACHE_HOME": str(cache), "DLB_STRATEGY": "none"}
    done = generated(program, env)
    assert (done.status, done.stdout) == (0, expected(program)), done.stderr
    assert "dlb: what was learned could not be written" in done.stderr


def test_a_loop_that_is_measured_is_calibrated_and_then_nothing_is_said(program: Path) -> None:
    program.write_text(PROGRAM.replace("BLOCK", "BLOCK, profile(group=8)"))
    directory, stats = program.parent, program.with_name("stats.json")
    done = dlbc(directory, "calibrate", "-n", 2, program)
    assert (done.status, done.stdout) == (0, expected(program)), done.stderr
    assert "dlbc: prog.py:7: relative speeds" in done.stderr
    assert "dlbc: prog.py:7: times of 400 iterations by groups of 8" in done.stderr
    teach(kept(directory), [1.0, 3.0])
    options = ["--strategy", "none", "--stats", stats, "--weights", "last"]
    done = dlbc(directory, "run", "-n", 2, *options, program)
    assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
    assert json.loads(stats.read_text())["loops"][0]["planned"]["L_I"] < 20
    fewer, more = iterations(stats)
    assert fewer < more
    [loop] = json.loads(kept(directory).read_text())["loops"]
    assert (loop["speeds"], len(loop["seconds"]), len(loop["densities"])) == ([1.0, 3.0], 2, 1)


def test_a_density_without_speeds_is_no_reason_for_a_remark(program: Path) -> None:
    program.write_text(PROGRAM.replace("BLOCK", "BLOCK, profile(group=8)"))
    env = {"DLB_WEIGHTS": "last", "DLB_LEARNED": "known.json", "DLB_STRATEGY": "none"}
    first, second = (generated(program, env) for _ in range(2))
    assert first.stdout == second.stdout == expected(program)
    assert "no speeds of these ranks are known" in first.stderr
    assert second.stderr == ""


def test_a_density_measured_by_one_run_cuts_the_first_pass_of_the_next(program: Path) -> None:
    program.write_text(PROGRAM.replace("BLOCK", "BLOCK, profile(group=8)"))
    directory, stats = program.parent, program.with_name("stats.json")
    planned = []
    for _ in range(2):
        options = ["--strategy", "none", "--stats", stats, "--learned", directory / "known.json"]
        done = dlbc(directory, "run", "-n", 2, *options, program)
        assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
        [loop] = json.loads(stats.read_text())["loops"]
        planned.append(loop.get("planned"))
    assert planned[0] is None
    assert planned[1].keys() == {"L_I", "L_E", "idle_share", "whole_iterations_loss"}
    [known] = json.loads((directory / "known.json").read_text())["loops"]
    [density] = known["densities"]
    assert (density["n"], density["group"], len(density["work"])) == (400, 8, 50)


ROUTINE = """
import numpy as np

u = np.zeros((402, 60))
u[0] = 1.0
v = u.copy()
# dlb: iterate, tolerance=1e9
for t in range(4):
    # dlb: parallel
    for i in range(1, 401):
        for _ in range(20):
            v[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:])
    u, v = v, u
print(u.sum(), u[3, 3])
"""


@pytest.mark.full
def test_a_routine_begins_with_the_speed_functions_of_an_earlier_run(program: Path) -> None:
    directory, stats, model = program.parent, program.with_name("stats.json"), program.with_name("model.json")
    program.write_text(ROUTINE)
    options = ["--model", model, "--stats", stats]
    done = dlbc(directory, "run", "-n", 2, "--strategy", "GDDLB", *options, program)
    assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
    document = json.loads(model.read_text())
    [loop] = document["loops"]
    [curve] = loop["curves"]
    assert curve["form"] == "60 <f8, 60 <f8"
    assert all(points["units"] for points in curve["points"])
    # The second rank is three times as fast with little, and no faster than the first with much.
    curve["points"] = [
        {"units": [100, 400], "units_per_s": [100.0, 100.0]},
        {"units": [100, 240, 250, 400], "units_per_s": [300.0, 300.0, 100.0, 100.0]},
    ]
    model.write_text(json.dumps(document))
    done = dlbc(directory, "run", "-n", 2, "--strategy", "none", *options, program)
    assert (done.status, done.stdout, done.stderr) == (0, expected(program), "")
    first, second = iterations(stats)
    assert first + second == 1600
    assert 4 * 235 <= second <= 4 * 250
    program.write_text(ROUTINE.replace("range(20)", "range(21)"))  # another loop
    done = dlbc(directory, "run", "-n", 2, "--strategy", "none", *options, program)
    assert (done.status, iterations(stats)) == (0, [800, 800])


def test_the_model_goes_without_the_other_file(program: Path) -> None:
    done = dlbc(program.parent, "run", "-n", 2, "--model", "a.json", "--learned", "b.json", program)
    assert (done.status, done.stdout) == (2, b"")
    assert "DLB_MODEL (--model): expected it without DLB_LEARNED (--learned); found both" in done.stderr


CHANGING = """\
import time
A = [0] * 40
for turn in range(4):
    # dlb: parallel, BLOCK
    for i in range(40):
        end = time.perf_counter() + (0.03 if (i < 20) == (turn % 2 == 0) else 0.003)
        while time.perf_counter() < end: pass
        A[i] = i
print(sum(A))
"""


@pytest.mark.full
def test_speeds_that_change_from_run_to_run_are_said_to_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    path.write_text(CHANGING)
    named = tmp_path / "learned.json"
    done = dlbc(tmp_path, "run", "-n", 2, "--strategy", "none", "--learned", named, path)
    assert (done.status, done.stdout) == (0, b"780\n"), done.stderr
    assert "dlb: changing.py:5: the ranks' relative speeds differ by a factor of" in done.stderr
    assert read(named).entries == ()
