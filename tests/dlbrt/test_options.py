"""Options: what the environment may say, and all of what is wrong with it at once."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from dlbrt.contract import ENVIRONMENT, OptionError
from dlbrt.emulation import Cliff, LoadSpec
from dlbrt.options import Options
from dlbrt.predict.groups import GroupSpec


@pytest.mark.parametrize(("text", "adapts"), [("", False), ("0", False), (" 1 ", True)])
def test_choosing_again_is_a_switch(text: str, adapts: bool) -> None:
    assert Options.read({"DLB_ADAPT": text}, 2).adapt is adapts


@pytest.mark.parametrize(("text", "whole"), [("", False), ("latest", False), (" all ", True)])
def test_the_window_of_history(text: str, whole: bool) -> None:
    assert Options.read({"DLB_HISTORY": text}, 2).whole_history is whole


def test_an_unknown_window_of_history_is_named() -> None:
    with pytest.raises(
        OptionError, match=r"DLB_HISTORY.*expected latest or all; found 'lates'; did you mean"
    ):
        Options.read({"DLB_HISTORY": "lates"}, 2)


def test_a_summary_is_a_switch() -> None:
    assert Options.read({"DLB_SUMMARY": "1"}, 2) == Options(summary=True)
    with pytest.raises(OptionError, match=r"DLB_SUMMARY.*expected 1, or 0 for no; found 'True'"):
        Options.read({"DLB_SUMMARY": "True"}, 2)


def test_a_switch_is_on_or_off() -> None:
    with pytest.raises(OptionError, match=r"DLB_ADAPT.*expected 1, or 0 for no; found 'yes'"):
        Options.read({"DLB_ADAPT": "yes"}, 2)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "1_0", "10000"])
def test_threads_are_counted(text: str) -> None:
    with pytest.raises(OptionError, match=r"DLB_THREADS.*expected an integer from 1 to 9999; found"):
        Options.read({"DLB_THREADS": text}, 2)


def test_nothing_set_asks_for_nothing() -> None:
    assert Options.read({}, 3) == Options()
    assert Options.read(dict.fromkeys(ENVIRONMENT.values(), ""), 3) == Options()


def test_every_option_is_read() -> None:
    environ = {
        "DLB_STRATEGY": "GDDLB",
        "DLB_GROUP": "2",
        "DLB_THREADS": " 4",
        "DLB_STATS": "out.json",
        "DLB_TRACE": "trace.json",
        "DLB_PROGRESS": "0",
        "DLB_LOAD": "fixed:0,3",
        "DLB_SPEEDS": "1,2",
        "DLB_WEIGHTS": "2,1",
        "DLB_LEARNED": "learned.json",
    }
    options = Options.read(environ, 2)
    assert options == Options(
        strategy="GDDLB",
        group=GroupSpec(2),
        threads=4,
        stats="out.json",
        trace="trace.json",
        load=LoadSpec(levels=(0, 3), speeds=(1.0, 2.0)),
        speeds=(1.0, 2.0),
        weights=(2.0, 1.0),
        learned="learned.json",
    )
    assert pickle.loads(pickle.dumps(options)) == options


def test_speeds_may_have_cliffs() -> None:
    options = Options.read({"DLB_SPEEDS": "1,1.5@400:15"}, 2)
    assert options.speeds == (1.0, 1.5)
    assert options.load == LoadSpec(speeds=(1.0, 1.5), cliffs=(None, Cliff(400, 15)))
    assert pickle.loads(pickle.dumps(options)) == options


def test_a_malformed_cliff_is_told_once() -> None:
    with pytest.raises(OptionError) as found:
        Options.read({"DLB_SPEEDS": "1,2@400"}, 2)
    assert str(found.value).count("DLB_SPEEDS") == 1


@pytest.mark.parametrize("text", ["last", " last "])
def test_the_weights_of_the_last_run_are_asked_for_by_name(text: str) -> None:
    options = Options.read({"DLB_WEIGHTS": text}, 3)
    assert options == Options(weights_last=True)
    assert options.weights is None


@pytest.mark.parametrize("option", ["stats", "trace", "learned"])
@pytest.mark.parametrize(
    ("name", "said"), [("missing/file", "existing directory"), (".", "can be written"), ("", None)]
)
def test_a_file_is_one_that_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str, said: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    if said is None:
        assert Options.read({ENVIRONMENT[option]: name}, 1) == Options()
        return
    with pytest.raises(OptionError, match=rf"{ENVIRONMENT[option]} \(--{option}\): expected a file .*{said}"):
        Options.read({ENVIRONMENT[option]: name}, 1)


@pytest.mark.parametrize("name", ["auto", "none", "GDDLB", "periodic", "gradient", "affinity"])
def test_a_strategy_of_this_version_is_taken(name: str) -> None:
    assert Options.read({"DLB_STRATEGY": name}, 1).strategy == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gddlb", "did you mean GDDLB"),
        ("GDLB", "did you mean GDDLB"),
        ("Gradiant", "did you mean gradient"),
        ("xyzzy", "found 'xyzzy'$"),
    ],
)
def test_an_unknown_strategy_is_refused_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Options.read({"DLB_STRATEGY": name}, 1)


@pytest.mark.parametrize(("text", "found"), [("", None), ("0", None), (" 1 ", "1"), ("always", "always")])
def test_progress_is_shown_on_terminals_or_always(text: str, found: str | None) -> None:
    assert Options.read({"DLB_PROGRESS": text}, 1).progress == found


def test_progress_is_nothing_else() -> None:
    with pytest.raises(OptionError, match=r"DLB_PROGRESS .*: expected 1, always, or 0 for no; found 'yes'"):
        Options.read({"DLB_PROGRESS": "yes"}, 1)


@pytest.mark.parametrize("text", ["3", "0", "-1", "x", "1.5", "1_0", "1,", "1,,near", "near,x"])
def test_a_group_has_from_one_rank_to_all(text: str) -> None:
    with pytest.raises(OptionError, match="DLB_GROUP"):
        Options.read({"DLB_GROUP": text}, 1)


def test_all_that_is_malformed_is_reported_at_once() -> None:
    with pytest.raises(OptionError) as caught:
        Options.read({"DLB_LOAD": "fixed:1", "DLB_SPEEDS": "x", "DLB_GROUP": "0"}, 2)
    lines = str(caught.value).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["DLB_LOAD", "DLB_SPEEDS", "DLB_GROUP"]
