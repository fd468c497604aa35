"""The planted bugs of `tests/planted_bugs.py` can still be planted, each in one place, and give Python."""

from __future__ import annotations

import ast

from tests.mutants import ROOT, likeliest_tests
from tests.planted_bugs import PLANTED_BUGS


def test_there_are_enough_and_all_have_names_of_their_own() -> None:
    assert len(PLANTED_BUGS) >= 36
    assert len({bug.name for bug in PLANTED_BUGS}) == len(PLANTED_BUGS)
    assert len({(bug.file, bug.old, bug.new) for bug in PLANTED_BUGS}) == len(PLANTED_BUGS)


def test_each_stands_in_one_place_and_gives_other_code() -> None:
    broken = []
    for bug in PLANTED_BUGS:
        file = ROOT / bug.file
        try:
            before = file.read_text()
            after = ast.dump(ast.parse(bug.planted(before)))
        except (OSError, ValueError, SyntaxError) as error:
            broken.append(f"{bug.name}: {error}")
            continue
        if after == ast.dump(ast.parse(before)):
            broken.append(f"{bug.name}: the code is the same, only its text differs")
    assert not broken, "\n".join(broken)


def test_likeliest_tests_exist() -> None:
    missing = [
        f"{bug.name}: {place}"
        for bug in PLANTED_BUGS
        for place in likeliest_tests(bug)
        if not (ROOT / place).exists()
    ]
    assert not missing, "\n".join(missing)


def test_each_room_where_programs_are_proved_and_run_has_some() -> None:
    rooms = {bug.room.split("/")[1] for bug in PLANTED_BUGS}
    expected = {
        "parse", "analysis", "passes", "algebra", "cost", "routines", "emit",
        "balance", "chunks", "partition", "speed", "predict", "data", "reductions", "diffusion",
        "observe", "mpi", "sim",
    }  # fmt: skip
    assert expected <= rooms
