"""What runs have taught: kept by loop and hosts, whole or absent, refused where it is not ours."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from dlbrt.contract import OptionError
from dlbrt.observe.measurements import (
    LoopKey,
    LoopMeasurements,
    MeasuredSpeeds,
    MeasurementStore,
    default_path,
    path_for,
    read,
    update,
)
from dlbrt.partition.density import Density
from dlbrt.speed.points import SpeedPoints
from papers.swartz.density import compress

KEY = LoopKey("prog.py:12", "5f2a", ("a", "a", "b"))


def density(n: int = 20, group: int = 5, seconds: float = 1.0) -> Density:
    return Density(n, group, np.full(-(-n // group), seconds))


def test_date_and_spread_are_kept_and_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    found = LoopMeasurements(KEY, (1.0, 2.0, 3.0), date="2026-11-23", spread=1.25)
    update(path, [found])
    assert read(path).entries == (found,)
    document = json.loads(path.read_text())
    for name in ("date", "spread"):
        del document["loops"][0][name]
    path.write_text(json.dumps(document))
    assert read(path).entries == (LoopMeasurements(KEY, (1.0, 2.0, 3.0)),)


@pytest.mark.parametrize(("spread", "disturbed"), [(None, False), (2.0, False), (2.1, True)])
def test_speeds_are_disturbed_if_they_change(spread: float | None, disturbed: bool) -> None:
    assert LoopMeasurements(KEY, (1.0, 2.0, 3.0), spread=spread).disturbed is disturbed
    points = tuple(SpeedPoints((10, 20), (1.0, 0.5)) for _ in KEY.hosts)
    assert not LoopMeasurements(KEY, curves=(MeasuredSpeeds("a", points),), spread=spread).disturbed


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    measurements = LoopMeasurements(
        KEY, (1.0, 1.25, 2.0), (compress(np.arange(100.0), 7), density()), (0.5, 0.25, 0.0)
    )
    update(path, [measurements])
    found = read(path).of(KEY)
    assert found is not None
    assert (found.key, found.speeds, found.seconds) == (
        measurements.key,
        measurements.speeds,
        measurements.seconds,
    )
    for old, new in zip(measurements.densities, found.densities, strict=True):
        assert (new.n, new.group) == (old.n, old.group)
        assert new.work == pytest.approx(old.work, rel=1e-5)
    assert [entry.name for entry in tmp_path.iterdir()] == ["learned.json"]


def test_the_same_lessons_are_the_same_bytes(tmp_path: Path) -> None:
    entries = [LoopMeasurements(KEY, (1.0, 1 / 3, 2.0), (compress(np.arange(100.0), 7),))]
    for name in ("one", "two"):
        update(tmp_path / name, entries)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("content", [None, b"", b" \n"])
def test_no_file_or_an_empty_one_knows_nothing(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "learned.json"
    if content is not None:
        path.write_bytes(content)
    assert read(path) == MeasurementStore()
    assert read(path).of(KEY) is None


@pytest.mark.parametrize(
    "other",
    [
        LoopKey("prog.py:13", "5f2a", ("a", "a", "b")),
        LoopKey("prog.py:12", "5f2b", ("a", "a", "b")),
        LoopKey("prog.py:12", "5f2a", ("a", "b", "a")),
        LoopKey("prog.py:12", "5f2a", ("a", "a")),
    ],
)
def test_another_loop_or_other_hosts_know_nothing_of_it(other: LoopKey) -> None:
    assert MeasurementStore((LoopMeasurements(KEY, (1.0, 1.0, 2.0)),)).of(other) is None


def test_a_newer_lesson_replaces_what_it_tells_and_keeps_the_rest() -> None:
    old = LoopMeasurements(KEY, (1.0, 2.0, 3.0), (density(20), density(30)))
    new = LoopMeasurements(KEY, (1.0, 3.0, 3.0), (density(20, 5, 9.0), density(40)), (0.5, 0.5, 0.5))
    [found] = MeasurementStore((old,)).after([new]).entries
    assert (found.speeds, found.seconds) == (new.speeds, new.seconds)
    assert [d.n for d in found.densities] == [20, 40, 30]
    assert found.density(20) is new.densities[0]
    assert found.density(50) is None
    assert LoopMeasurements(KEY, (4.0, 4.0, 5.0)).after(found).speeds == (4.0, 4.0, 5.0)
    assert LoopMeasurements(KEY).after(found) is found


def test_speed_functions_are_kept_by_the_form_of_rows(tmp_path: Path) -> None:
    def curve(form: str, speed: float) -> MeasuredSpeeds:
        return MeasuredSpeeds(form, tuple(SpeedPoints((10, 20), (speed, speed / 2)) for _ in KEY.hosts))

    old = LoopMeasurements(KEY, (1.0, 2.0, 3.0), (density(20),), curves=(curve("a", 1.0), curve("b", 2.0)))
    path = tmp_path / "model.json"
    update(path, [old])
    update(path, [LoopMeasurements(KEY, curves=(curve("b", 5.0),))])
    found = read(path).of(KEY)
    assert found is not None
    assert found.curves == (curve("b", 5.0), curve("a", 1.0))
    assert (found.speeds, found.density(20)) == (old.speeds, found.densities[0])
    assert found.curve("a") == curve("a", 1.0).points
    assert found.curve("c") == ()


def test_densities_that_hold_the_speeds_are_not_used_with_speeds() -> None:
    apart = LoopMeasurements(KEY, (1.0, 2.0, 3.0), (density(20), density(30)))
    together = LoopMeasurements(KEY, (), (density(20), density(40)))
    for older, newer in ((apart, together), (together, apart)):
        [found] = MeasurementStore((older,)).after([newer]).entries
        assert (found.speeds, found.densities) == (newer.speeds, newer.densities)


def test_runs_on_several_hosts_are_kept_side_by_side_and_the_oldest_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    keys = [LoopKey("prog.py:12", "5f2a", (f"host{number}",)) for number in range(300)]
    update(path, [LoopMeasurements(key, (1.0,)) for key in keys])
    update(path, [LoopMeasurements(keys[60], (2.0,))])
    known = read(path)
    assert [measurements.key for measurements in known.entries] == [
        keys[60],
        *reversed(keys[61:]),
        *keys[59:43:-1],
    ]
    assert known.of(keys[43]) is None


def test_densities_are_kept_at_a_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    fine = Density(100_000, 2, np.linspace(0.0, 1.0, 50_000))
    update(
        path,
        [
            LoopMeasurements(KEY, (), tuple(density(n) for n in range(1, 9))),
            LoopMeasurements(KEY, (), (fine,)),
        ],
    )
    [found] = read(path).entries
    assert [d.n for d in found.densities] == [100_000, 1, 2, 3]
    assert found.densities[0].group == 26
    assert len(found.densities[0].work) <= 4096
    assert np.abs(np.subtract(found.densities[0].cut(16), fine.cut(16))).max() <= 13


def test_the_directory_is_made_and_another_run_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "dlb" / "prog.json"
    other = LoopKey("prog.py:20", "77", KEY.hosts)
    update(path, [LoopMeasurements(KEY, (1.0, 1.0, 2.0))])
    update(path, [LoopMeasurements(other, (3.0, 1.0, 2.0))])
    assert [measurements.key for measurements in read(path).entries] == [other, KEY]


def test_times_are_one_per_rank_of_0_or_more() -> None:
    for seconds in ((1.0,), (1.0, -1.0, 1.0), (1.0, float("nan"), 1.0)):
        with pytest.raises(ValueError, match="times"):
            LoopMeasurements(KEY, (1.0, 1.0, 1.0), (), seconds)


@pytest.mark.parametrize("speeds", [(1.0,), (1.0, 0.0, 1.0), (1.0, -1.0, 2.0), (1.0, float("nan"), 1.0)])
def test_speeds_are_one_per_rank_above_0(speeds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="speeds"):
        LoopMeasurements(KEY, speeds)


LOOP = {
    "source": "prog.py:12",
    "kernel": "5f2a",
    "hosts": ["a", "b"],
    "speeds": [1, 2.5],
    "seconds": [],
    "densities": [],
    "curves": [],
}
DENSITY = {"n": 20, "group": 5, "total_s": 1.5, "work": [1, 1, 1, 1]}


def file_of(**changed: object) -> str:
    return json.dumps({"format": "dlb learned", "version": 2, "loops": [LOOP | changed]})


def test_a_file_written_by_hand_is_read(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    path.write_text(file_of(densities=[DENSITY]))
    [measurements] = read(path).entries
    assert measurements.speeds == (1.0, 2.5)
    assert measurements.densities[0].work.tolist() == [0.375] * 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "which is no JSON: name another"),
        ("\0\1", "which is no JSON: name another"),
        ("[" * 100_000, "which is no JSON: name another"),
        ("[]", "which is JSON of something else: name another"),
        ('{"version": 1, "ranks": 2, "loops": []}', "is JSON of something else"),
        (
            '{"format": "dlb learned", "version": 1, "loops": []}',
            "which has version 1 of its format where version 2 is expected: remove it, or name another",
        ),
        ('{"format": "dlb learned", "version": 3}', "has version 3 of its format"),
        (
            '{"format": "dlb learned", "version": 2}',
            "which is damaged (it lacks 'loops'): remove it, or name another",
        ),
        (
            '{"format": "dlb learned", "version": 2, "loops": 3}',
            "is damaged (it has values of another kind): remove it",
        ),
        ('{"format": "dlb learned", "version": 2, "loops": [3]}', "is damaged"),
        (file_of(source=3), "expected text, found 3"),
        (file_of(hosts=[1, 2]), "expected text, found 1"),
        (file_of(hosts=None), "is damaged"),
        (file_of(speeds=[1]), "one per rank"),
        (file_of(speeds=[1, True]), "expected a number, found True"),
        (file_of(speeds=[1, "x"]), "expected a number, found 'x'"),
        (file_of(speeds=[1, float("nan")]), "speeds above 0"),
        (file_of(speeds=[1, 10**400]), "is damaged"),
        (file_of(densities=[DENSITY | {"n": 21}]), "is damaged"),
        (file_of(densities=[DENSITY | {"n": 20.0}]), "whole numbers"),
        (file_of(densities=[DENSITY | {"n": 10**30, "group": 10**30, "work": [1]}]), "whole numbers"),
        (file_of(densities=[DENSITY | {"group": 0}]), "is damaged"),
        (file_of(densities=[DENSITY | {"work": [0, 0, 0, 0]}]), "zero everywhere"),
        (file_of(densities=[DENSITY | {"work": [1, -1, 0, 0]}]), "negative"),
        (file_of(densities=[DENSITY | {"total_s": 0}]), "zero everywhere"),
        (file_of(densities=[DENSITY | {"total_s": float("inf")}]), "infinite"),
        (file_of(densities=[DENSITY | {"work": None}]), "is damaged"),
    ],
)
def test_what_is_not_ours_is_refused_in_words(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "learned.json"
    path.write_text(text)
    with pytest.raises(OptionError, match=r"^DLB_LEARNED \(--learned\): expected a file that .*") as caught:
        read(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    with pytest.raises(OptionError):
        update(path, [])
    assert path.read_text() == text


@pytest.mark.parametrize(("content", "said"), [(b"\xff\xfe", "no text"), (b"x = 1\n", "no JSON")])
def test_a_model_is_refused_in_terms_of_its_option(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "some.model"
    path.write_bytes(content)
    wanted = "DLB_MODEL (--model): expected a file that `--model` has written"
    for use in (lambda: read(path, "model"), lambda: update(path, [], "model")):
        with pytest.raises(OptionError) as caught:
            use()
        assert str(caught.value) == f"{wanted}; found {str(path)!r}, which is {said}: name another"
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "changed",
    [
        {"densities": [DENSITY | {"work": list(range(1, 5000))}]},
        {"densities": [DENSITY | {"n": list(range(5000))}]},
        {"speeds": list(range(1, 5000))},
        {"source": list(range(5000))},
        {"seconds": [1, list(range(5000))]},
    ],
)
def test_a_refusal_is_short_however_much_is_in_the_file(tmp_path: Path, changed: dict[str, object]) -> None:
    path = tmp_path / "learned.json"
    path.write_text(file_of(**changed))
    with pytest.raises(OptionError, match="is damaged") as caught:
        read(path)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is no regular file"):
        read(tmp_path)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(OptionError, match="is no regular file"):
        read(fifo)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="is no text"):
        read(tmp_path / "bytes")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OptionError, match="cannot be read"):
        read(loop)


def test_a_directory_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        update(tmp_path / "file" / "dlb" / "learned.json", [])


def test_by_default_it_lies_in_the_users_cache(tmp_path: Path) -> None:
    program, home = str(tmp_path / "prog.py"), str(tmp_path / "home")
    plain = default_path(program, {"HOME": home})
    assert plain.parent == tmp_path / "home" / ".cache" / "dlb"
    assert plain.name.startswith("prog-")
    assert default_path(program, {"HOME": home, "XDG_CACHE_HOME": "not/absolute"}) == plain
    named = default_path(program, {"HOME": home, "XDG_CACHE_HOME": str(tmp_path)})
    assert named == tmp_path / "dlb" / plain.name
    local = {"LOCALAPPDATA": str(tmp_path), "XDG_CACHE_HOME": "/elsewhere"}
    assert default_path(program, local, windows=True) == named
    under = default_path(program, {"USERPROFILE": home}, windows=True)
    assert under.parent == tmp_path / "home" / "AppData" / "Local" / "dlb"


def test_a_run_keeps_what_it_learns_only_where_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"HOME": "/home/x"}
    assert path_for(None, False, "prog.py", environ) is None
    assert path_for(None, True, "prog.py", environ) == default_path("prog.py", environ)
    for last in (False, True):
        assert path_for("known.json", last, "prog.py", {}) == tmp_path / "known.json"


def test_programs_of_one_name_have_files_of_their_own(tmp_path: Path) -> None:
    names = [default_path(str(tmp_path / d / "prog.py"), {"HOME": "/home/x"}).name for d in ("a", "b")]
    assert names[0] != names[1]


def test_source_and_generated_program_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = tmp_path / "other.py"
    generated.write_text("# Generated by dlbc 0.1.0 from prog.py; edit that file\n# dlbc: lines 1=1\n")
    environ = {"HOME": "/home/x"}
    expected = default_path(str(tmp_path / "prog.py"), environ)
    assert default_path(str(generated), environ) == expected
    monkeypatch.chdir(tmp_path)
    assert default_path("other.py", environ) == default_path("prog.py", environ) == expected


def test_without_a_home_another_file_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(OptionError, match=r"home directory.*DLB_LEARNED \(--learned\)"):
        default_path("prog.py", {})
