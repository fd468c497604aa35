"""Words: names are the field's terms, and no two public classes share one.

`ARCHITECTURE.md` has a glossary of the terms. The words listed here once stood for things that have a term of
their own; a name that uses one again sends its reader back to a dictionary.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "dlbc", ROOT / "runtime" / "dlbrt")

#: Word -> what to say instead.
WORDS = {
    "amounts": "work_table",
    "asking": "requesting",
    "books": "group_state",
    "carrier": "executor",
    "carriers": "executor",
    "climb": "fixpoint",
    "clocked": "periodic",
    "conductor": "root",
    "course": "progress",
    "courses": "progress",
    "crew": "driver",
    "crumbled": "scattered",
    "dealer": "scheduler or partitioner",
    "deed": "side_effect",
    "deeds": "side_effects",
    "desk": "request_cost",
    "errand": "fetch_request",
    "errands": "fetch_requests",
    "foresees": "interrupts_early",
    "gift": "assignment",
    "gifts": "assignments",
    "heard": "received",
    "holdings": "directory",
    "ladder": "order",
    "ledger": "history",
    "lesson": "measurements",
    "lessons": "measurements",
    "likeness": "copy_spec",
    "listens": "receives_messages",
    "logbook": "journal",
    "manner": "kind",
    "outlook": "inputs",
    "pacer": "poll_interval",
    "parcel": "transfer",
    "parcels": "transfers",
    "parted": "decomposed",
    "patience": "interrupt_timing or timeout",
    "player": "worker",
    "regrouping": "group_exchange",
    "regroups": "requests_exchange",
    "residence": "resident_arrays",
    "seer": "use",
    "shelf": "store",
    "shipment": "transfer",
    "shipments": "transfers",
    "situation": "inputs",
    "spare": "eviction",
    "spared": "evicted",
    "stay": "resident",
    "staying": "resident",
    "summon": "request",
    "summoned": "requested",
    "telling": "sending",
    "tells": "sends",
    "tenure": "ownership",
    "tenures": "ownerships",
    "tick": "quantum",
    "ticks": "quanta",
    "told": "received, logged or known",
    "wakes": "timer_at",
    "whereabouts": "location",
    "wire": "communicator",
    "wished": "wanted",
}


def paths() -> list[Path]:
    return [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module gives: to classes, functions, parameters, variables and attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno


def words(name: str) -> set[str]:
    """The words of a name, in lower case: `GroupState` and `_group_state` have the same."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.name)
def test_no_name_uses_a_word_that_has_a_term(path: Path) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {name}: rather {WORDS[word]}"
        for file in sorted(path.rglob("*.py"))
        for name, line in [(file.stem, 1), *names(ast.parse(file.read_bytes()))]
        for word in words(name) & WORDS.keys()
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_two_public_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for path in paths():
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice, twice


def test_the_words_of_a_name() -> None:
    assert words("_MPIGroupState_of") == {"mpi", "group", "state", "of"}
    tree = ast.parse("class Books:\n    ticks: int\n    def told(self, gift): self.crew = 1")
    assert {word for name, _ in names(tree) for word in words(name)} >= {
        "books",
        "ticks",
        "told",
        "gift",
        "crew",
    }
