"""Forced strategies on ranks: groups balance for themselves, whoever decides; what comes out is the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.strategies import names, pooled, strategy
from dlbrt.contract import BASELINES
from dlbrt.predict.choose import TAKES

from dlbc.commands.explain.describe import describe
from dlbc.commands.explain.ranks import read_ranks
from dlbc.pipeline import explain
from dlbc.source import Source
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import is_full, pairs, part

pytestmark = pytest.mark.mpi

PROGRAM = """
import numpy as np

def fill(A):
    # dlb: parallel, BLOCK{clause}
    for i in range(len(A)):
        s = 0.0
        for j in range({inner}):
            s += j * 0.5
        A[i] = s + i

A = np.zeros(1200)
fill(A)
print(A.sum().hex())
"""


#: Iterations for which the condition ``waits`` holds wait for the last one.
WAITING = """
import os
import time
from pathlib import Path

import numpy as np

def wait(i, done, root):
    time.sleep(0.01)
    if i == 11:
        done.touch()
    until = time.monotonic() + 60
    while {waits} and not done.exists():
        if time.monotonic() > until:
            return 0.0
        time.sleep(0.01)
    return 1.0

def fill(A, wait, done, root):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        A[i] += i + wait(i, done, root)

A = np.zeros(12)
fill(A, [wait][0], Path({flag!r}), os.getpid())
print(A.tolist())
"""

LOPSIDED = {"DLB_LOAD": "fixed:0,0,9,9"}


def iterations(
    directory: Path, ranks: int, env: dict[str, str], clause: str = "", inner: int = 3000
) -> tuple[list[int], int]:
    """Those of each rank, and how often work was redistributed; the output is compared."""
    source = directory / "prog.py"
    source.write_text(PROGRAM.format(clause=clause, inner=inner))
    stats = directory / "stats.json"
    generated = transform(source, directory)
    done = run_mpi(ranks, [sys.executable, str(generated)], env=env | {"DLB_STATS": str(stats)})
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    (loop,) = json.loads(stats.read_text())["loops"]
    return [rank["iterations"] for rank in loop["per_rank"]], loop["redistributions"]


@pytest.mark.parametrize("strategy", ["LCDLB", "LDDLB"])
def test_by_default_there_are_two_groups_on_one_host(strategy: str, tmp_path: Path) -> None:
    found, _ = iterations(tmp_path, 4, {"DLB_STRATEGY": strategy, "DLB_LOAD": "fixed:0,9,0,0"})
    assert found[0] + found[1] == found[2] + found[3] == 600
    assert found[1] < 300


@pytest.mark.parametrize("strategy", ["GCDLB", "GDDLB"])
def test_global_strategies_share_among_all_ranks(strategy: str, tmp_path: Path) -> None:
    found, redistributions = iterations(tmp_path, 4, {"DLB_STRATEGY": strategy, "DLB_LOAD": "fixed:0,9,0,9"})
    assert sum(found) == 1200
    assert redistributions >= 1
    assert max(found[1], found[3]) < 300


def test_the_size_of_groups_is_the_clauses_or_the_runs(tmp_path: Path) -> None:
    load = {"DLB_LOAD": "fixed:9,0,0"}
    found, _ = iterations(tmp_path, 3, load, ", schedule(LDDLB, group=2)")
    assert found[2] == 400
    assert found[0] < 400 < found[1]
    found, _ = iterations(tmp_path, 3, load | {"DLB_STRATEGY": "LCDLB", "DLB_GROUP": "1"})
    assert found == [400, 400, 400]


@pytest.mark.parametrize(("ranks", "adapt"), pairs([2, 7, 4], ["0", "1"]) if is_full() else [(4, "0")])
def test_auto_commits_to_what_is_expected_to_be_cheapest(ranks: int, adapt: str, tmp_path: Path) -> None:
    load = ",".join(str(9 * (rank % 2)) for rank in range(ranks))
    env = {"DLB_LOAD": f"fixed:{load}", "DLB_ADAPT": adapt}
    iterations(tmp_path, ranks, env, inner=20000)
    (loop,) = json.loads((tmp_path / "stats.json").read_text())["loops"]
    assert set(loop["predicted_s"]) == set(names()) - set(BASELINES)
    assert loop["strategy"] == loop["choice"]["choice"]
    choice, elapsed_s = loop["choice"], loop["choice"]["inputs"]["elapsed_s"]
    expected_s = {
        name: TAKES[name] * (seconds - elapsed_s)
        for name, seconds in choice["predicted_s"].items()
        if name == loop["strategy"] or not (pooled(name) or name in choice["estimated"])
    }
    if not choice["settled"]:  # on a busy machine ranks may have little left when they have all reported
        assert expected_s[loop["strategy"]] == pytest.approx(min(expected_s.values()))
    assert loop["choice"]["runs"] == 1
    assert sum(rank["iterations"] for rank in loop["per_rank"]) == 1200
    if isinstance(strategy(loop["strategy"]), PeerStrategy):
        return  # windows are those before it was chosen
    assert loop["windows"]  # steals before it was chosen count as synchronizations, and are none
    assert loop["synchronizations"] >= 1
    since = [  # ranks went over to it
        sum(w["units"][w["members"].index(r)] for w in loop["windows"] if r in w["members"])
        for r in range(ranks)
    ]
    assert 0 < sum(since) <= 1200
    assert all(part <= rank["iterations"] for part, rank in zip(since, loop["per_rank"], strict=True))


@pytest.mark.parametrize(
    ("strategy", "waits"), [("steal", "os.getpid() != root"), ("SS", "os.getpid() == root and i > 3")]
)
def test_a_rank_serves_others_while_it_is_within_an_iteration(
    strategy: str, waits: str, tmp_path: Path
) -> None:
    """Iterations of the rank that has all that is left end once the other has done the last one, or never."""
    source, stats = tmp_path / "prog.py", tmp_path / "stats.json"
    source.write_text(WAITING.format(flag=str(tmp_path / "done"), waits=waits))
    env = {"DLB_STRATEGY": strategy, "DLB_STATS": str(stats)}
    done = run_mpi(2, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert done.stdout == b"[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]\n", done.stderr
    (loop,) = json.loads(stats.read_text())["loops"]
    assert sum(rank["iterations"] for rank in loop["per_rank"]) == 12


@pytest.mark.parametrize("strategy", part(["GCDLB", "LDDLB", "diffusion", "none"], 3))
def test_ranks_that_steal_go_over_to_the_strategy_chosen(strategy: str, tmp_path: Path) -> None:
    """As where the model expects so little of no other strategy; with movement of rows."""
    cheap = (
        "import dlbrt.balance.chooser, dlbrt.predict.choose\n"
        "dlbrt.balance.chooser.SHORT_REST_S = 0.0\n"
        f"dlbrt.predict.choose.TAKES[{strategy!r}] = 0.01\n"
    )
    source = tmp_path / "prog.py"
    source.write_text(PROGRAM.format(clause="", inner=20000).replace("import numpy", cheap + "import numpy"))
    stats = tmp_path / "stats.json"
    env = {"DLB_LOAD": "fixed:0,9,0,9", "DLB_STATS": str(stats)}
    done = run_mpi(4, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    (loop,) = json.loads(stats.read_text())["loops"]
    assert (loop["strategy"], loop["choice"]["choice"]) == (strategy, strategy)
    assert sum(rank["iterations"] for rank in loop["per_rank"]) == 1200


def test_the_parts_of_each_ranks_time_are_told_apart(tmp_path: Path) -> None:
    iterations(tmp_path, 3, {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,5,0"})
    (loop,) = json.loads((tmp_path / "stats.json").read_text())["loops"]
    parts = [[rank[key] for key in rank if key != "iterations"] for rank in loop["per_rank"]]
    assert all(min(each) >= 0 for each in parts)
    assert all(sum(each) <= loop["elapsed_s"] * 1.001 for each in parts)
    assert any(rank["movement_s"] > 0 for rank in loop["per_rank"])
    assert any(rank["decision_s"] > 0 for rank in loop["per_rank"])
    assert loop["gain"]["redistributions"] >= 1
    assert loop["gain"]["realised_s"] > 0


@pytest.mark.parametrize(
    ("strategy", "group"),
    pairs(["LCDLB", "LDDLB"], ["2,exchange", "2,dynamic", "2,exchange,masters", "1,exchange"]),
)
def test_groups_that_exchange_work_share_among_all_ranks(strategy: str, group: str, tmp_path: Path) -> None:
    found, redistributions = iterations(
        tmp_path, 4, {"DLB_STRATEGY": strategy, "DLB_GROUP": group} | LOPSIDED
    )
    assert sum(found) == 1200
    assert found[0] + found[1] > 700 > 500 > found[2] + found[3]
    assert redistributions >= 1


def test_a_master_in_each_group_balances_it_alone(tmp_path: Path) -> None:
    asked = {"DLB_STRATEGY": "LCDLB", "DLB_GROUP": "2,masters", "DLB_LOAD": "fixed:0,9,9,0"}
    found, redistributions = iterations(tmp_path, 4, asked)
    assert found[0] + found[1] == found[2] + found[3] == 600
    assert max(found[1], found[2]) < 300
    assert redistributions >= 2


def test_more_groups_than_iterations_end(tmp_path: Path) -> None:
    source = tmp_path / "prog.py"
    source.write_text(PROGRAM.format(clause="", inner=3000).replace("np.zeros(1200)", "np.zeros(2)"))
    generated = transform(source, tmp_path)
    done = run_mpi(
        5, [sys.executable, str(generated)], env={"DLB_STRATEGY": "LDDLB", "DLB_GROUP": "1,exchange"}
    )
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr


@pytest.mark.parametrize(
    ("strategy", "group"), pairs(["LDDLB", "LCDLB"], ["2,exchange", "2,masters,dynamic", "1,exchange"])
)
def test_of_failures_in_several_groups_the_lowest_is_raised(
    strategy: str, group: str, tmp_path: Path
) -> None:
    source = tmp_path / "prog.py"
    source.write_text(
        "import numpy as np\n\ndef fill(A, F):\n    # dlb: parallel, BLOCK\n    for i in range(len(A)):\n"
        "        s = 0.0\n        for j in range(2000):\n            s += j * 0.5\n"
        "        A[i] = s / F[i]\n\nA = np.zeros(800)\nF = [1.0] * 800\n"
        "F[170] = F[390] = F[780] = 0.0\ntry:\n    fill(A, F)\nexcept ZeroDivisionError as e:\n"
        "    print(e, np.count_nonzero(A[:170]))\n"
    )
    generated = transform(source, tmp_path)
    env = {"DLB_STRATEGY": strategy, "DLB_GROUP": group} | LOPSIDED
    done = run_mpi(4, [sys.executable, str(generated)], env=env)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr


def test_without_known_speeds_groups_of_equal_speed_are_blocks_and_it_says_so(tmp_path: Path) -> None:
    source = tmp_path / "prog.py"
    source.write_text(PROGRAM.format(clause="", inner=3000))
    generated = transform(source, tmp_path)
    env = {"DLB_STRATEGY": "LDDLB", "DLB_GROUP": "speed", "DLB_LOAD": "fixed:0,9,0,0"}
    done = run_mpi(4, [sys.executable, str(generated)], env=env)
    assert done.stderr.count("no speeds of these ranks are known for groups of equal speed") == 1
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout


def test_a_group_larger_than_all_ranks_is_one_and_that_is_said(tmp_path: Path) -> None:
    source = tmp_path / "prog.py"
    source.write_text(PROGRAM.format(clause=", schedule(LDDLB, group=99)", inner=300))
    done = run_mpi(2, [sys.executable, str(transform(source, tmp_path))])
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout
    assert "a group of 99 is more than all 2 ranks" in done.stderr


def test_who_waits_for_another_group_is_idle(tmp_path: Path) -> None:
    """Every rank's seconds come to the same, whenever its group has ended."""
    iterations(tmp_path, 4, {"DLB_STRATEGY": "LDDLB", "DLB_LOAD": "fixed:0,0,9,9"})
    (loop,) = json.loads((tmp_path / "stats.json").read_text())["loops"]
    ranks = loop["per_rank"]
    totals = [sum(spent for what, spent in rank.items() if what.endswith("_s")) for rank in ranks]
    assert totals == pytest.approx([max(totals)] * 4, abs=1e-6)
    assert min(rank["idle_s"] for rank in ranks[:2]) > 0


def test_predictions_are_audited_after_the_run(tmp_path: Path) -> None:
    """The bytes that `explain -n P` predicts are those that travel; seconds stand beside those predicted."""
    source, stats = tmp_path / "prog.py", tmp_path / "stats.json"
    source.write_text(AUDITED)
    generated = transform(source, tmp_path)
    env = {"DLB_STATS": str(stats), "DLB_LOAD": "fixed:0,9"}
    run_mpi(2, [sys.executable, str(generated)], env=env)
    (loop,) = json.loads(stats.read_text())["loops"]
    assert loop["bytes_scattered"] >= loop["bytes_gathered"] > 0
    audit = loop["audit"]
    assert audit["seconds"]["runs"] == 1
    assert 0 < audit["seconds"]["predicted"] == loop["predicted_s"][loop["strategy"]]
    assert audit["seconds"]["measured"] <= loop["elapsed_s"]
    read = Source(str(source), AUDITED.encode(), AUDITED)
    ranks = read_ranks(2, None, (), str(stats))
    assert ranks is not None
    facts = {f.code: f.text for f in describe(read, explain(read).reports[0], ranks)}
    assert "a run, took" in facts["DLB677"]
    assert "a run, moved" in facts["DLB677"]
    assert facts["DLB675"].startswith("19.2 kB of rows, there and back")


def test_the_model_counts_bytes_of_work_that_moves_to_other_ranks_alone(tmp_path: Path) -> None:
    """Rank 0 holds the program's arrays; which way work moves the machine decides, beside the load."""
    source, stats = tmp_path / "prog.py", tmp_path / "stats.json"
    source.write_text(AUDITED)
    generated = transform(source, tmp_path)
    for load in ("fixed:0,9", "fixed:9,0"):
        env = {"DLB_STATS": str(stats), "DLB_LOAD": load, "DLB_STRATEGY": "GDDLB"}
        run_mpi(2, [sys.executable, str(generated)], env=env)
        (loop,) = json.loads(stats.read_text())["loops"]
        assert loop["iterations_moved"] > 0
        audited = loop.get("audit", {}).get("bytes_moved", {"predicted": 0, "measured": 0})
        assert audited["predicted"] == audited["measured"] == loop["bytes_moved"]


AUDITED = """
import numpy as np

A = np.zeros((600, 4))
# dlb: parallel
for i in range(600):
    s = 0.0
    for j in range(20000):
        s += j * 0.5
    A[i] += s
"""
