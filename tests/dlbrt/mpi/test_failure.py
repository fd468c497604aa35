"""Exceptions arrive as they left: type, message, attributes, causes, and frames of the original source."""

from __future__ import annotations

import errno
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from dlbrt.mpi.failure import Failure, capture, install_hook, raise_as_in_body
from dlbrt.mpi.values.objects import Returned, RootObjects, WorkerObjects
from dlbrt.observe import linemap


class Slotted(Exception):
    __slots__ = ("a", "b")

    def __init__(self, a: int, b: str) -> None:
        super().__init__(f"{a}-{b}")
        self.a, self.b = a, b


class KeywordOnly(Exception):
    def __init__(self, text: str, *, limit: int) -> None:
        super().__init__(text)
        self.limit = limit

    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled as it is")


class Shown(Exception):
    def __init__(self, code: int) -> None:
        self.code = code

    def __str__(self) -> str:
        return f"code {self.code}"


def local_class() -> type[Exception]:
    class Local(ValueError):
        pass

    return Local


def captured(position: int, error: BaseException) -> Failure:
    return capture(Failure(position, 1, error), WorkerObjects(rank=1))


def at_root() -> RootObjects:
    objects = RootObjects()
    objects.expect(1, Returned())
    return objects


def arrived(error: BaseException) -> BaseException:
    with pytest.raises(type(error)) as info:
        raise_as_in_body(captured(3, error), at_root())
    return info.value


def raised(action: Callable[[], Any]) -> BaseException:
    try:
        action()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def fail(error: BaseException) -> NoReturn:
    raise error


def attributes(error: BaseException) -> dict[str, Any]:
    names = (name for name in dir(error) if not name.startswith("_") and hasattr(error, name))
    return {name: value for name in names if not callable(value := getattr(error, name))}


@pytest.mark.parametrize(
    "error",
    [
        ValueError("text", 5),
        KeyError("k"),
        OSError(errno.ENOENT, "gone", "a.txt"),
        OSError("no number"),
        PermissionError(errno.EACCES, "no", "a", None, "b"),
        BlockingIOError(errno.EAGAIN, "later", 5),
        raised(lambda: b"\xff".decode("utf-8")),
        raised(lambda: "é".encode("ascii")),
        raised(lambda: {}["missing"]),
        raised(lambda: compile("1 +", "name", "eval")),
        raised(lambda: np.zeros((2, 2)).sum(axis=5)),
        ImportError("m", name="n", path="p"),
        AttributeError("a", name="n", obj=3),
        SystemExit(7),
        SystemExit("words"),
        KeyboardInterrupt(),
        StopIteration(4),
        Slotted(1, "x"),
        KeywordOnly("much", limit=9),
        Shown(4),
        local_class()("inner"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_type_message_and_attributes_arrive(error: BaseException) -> None:
    found = arrived(error)
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert found.args == error.args
    assert attributes(found) == attributes(error)


def test_what_cannot_leave_stays_behind_alone() -> None:
    error = Shown(3)
    error.args = ("words", (k for k in range(2)))
    error.__dict__.update(source=(k for k in range(2)), note="kept")
    found = arrived(error)
    assert isinstance(found, Shown)
    assert found.__dict__ == {"code": 3, "note": "kept"}
    assert repr(found.args) == repr(error.args)


def test_causes_and_contexts_arrive() -> None:
    def chained() -> None:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise RuntimeError("second") from first

    found = arrived(raised(chained))
    assert isinstance(found.__cause__, KeyError)
    assert found.__context__ is found.__cause__
    assert found.__suppress_context__


def test_what_is_handled_at_the_loop_is_behind_the_contexts_of_the_body() -> None:
    def chained() -> None:
        try:
            raise KeyError("first")
        except KeyError:
            raise RuntimeError("second")  # noqa: B904

    failure = captured(0, raised(chained))

    def while_handling() -> None:
        try:
            raise OSError("handled")
        except OSError:
            raise_as_in_body(failure, at_root())

    context = raised(while_handling).__context__
    assert isinstance(context, KeyError)
    assert isinstance(context.__context__, OSError)


def test_groups_arrive_with_their_members() -> None:
    found = arrived(ExceptionGroup("several", [Slotted(1, "x"), KeywordOnly("much", limit=2)]))
    assert isinstance(found, ExceptionGroup)
    first, second = found.exceptions
    assert (first.a, second.limit) == (1, 2)  # type: ignore[attr-defined]


def test_an_exception_whose_type_cannot_leave_is_told_in_words() -> None:
    held = threading.Lock()

    class Stays(Exception):
        lock = held

    found = at_root().unpack(captured(0, Stays("words")).data, 1)
    assert type(found) is RuntimeError
    assert "Stays: words" in str(found)


def test_expressions_stay_marked() -> None:
    error = raised(lambda: [1] + len(["é"]) * "x")  # type: ignore[list-item]
    expected = traceback.format_tb(error.__traceback__)[-1]
    found = arrived(error)
    assert traceback.format_tb(found.__traceback__)[-1] == expected
    assert "^" in expected


@pytest.mark.parametrize(
    "error", [ValueError("text", 5), Slotted(1, "x"), SystemExit(7), ExceptionGroup("s", [OSError(1)])]
)
def test_a_note_is_added_once_where_nothing_catches_the_exception(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = str(error), repr(error.args)
    error.add_note("the program's own")
    found = raised(lambda: fail(error))
    for _ in range(2):
        failure = captured(3, found)
        found = raised(lambda failure=failure: raise_as_in_body(failure, at_root(), "ours"))  # type: ignore[misc]
    assert found.__notes__ == ["the program's own"]
    assert (str(found), repr(found.args)) == before
    assert shown(found, monkeypatch) is found
    assert found.__notes__ == ["the program's own", "ours"]


def shown(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """The exception as it is shown where nothing catches it."""
    found: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _tb: found.append(error))
    install_hook()
    sys.excepthook(type(error), error, error.__traceback__)
    return found[0]


def test_an_exception_that_takes_no_note_is_shown_without(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(Exception):
        def add_note(self, note: str) -> None:
            raise AttributeError("closed")

    failure = Failure(0, 0, raised(lambda: fail(Closed())))
    found = shown(raised(lambda: raise_as_in_body(failure, RootObjects(), "ours")), monkeypatch)
    assert (type(found), getattr(found, "__notes__", [])) == (Closed, [])


def test_the_traceback_names_the_original_source_and_not_the_loop_call_twice(tmp_path: Path) -> None:
    generated = tmp_path / "p_dlb.py"
    text = [
        "# Generated by dlbc 0.1.0 from p.py; edit that file and transform it again.",
        "def kernel(dlb):",
        "    raise ValueError('here')",
        "",
        "def work():",
        "    kernel(None)",
        "    pass",
        "# dlbc: loop kernel=2 work",
        "# dlbc: lines 3=3 5=1 6=2",
        "",
    ]
    generated.write_text("\n".join(text))
    namespace: dict[str, Any] = {}
    exec(compile(generated.read_text(), str(generated), "exec"), namespace)
    linemap.line_map.cache_clear()
    found = arrived(raised(namespace["work"]))
    places = [(Path(f.filename).name, f.lineno, f.name) for f in traceback.extract_tb(found.__traceback__)]
    assert places[-1] == ("p.py", 3, "work")
    assert [place for place in places if place[0] == "p.py"] == [("p.py", 3, "work")]
