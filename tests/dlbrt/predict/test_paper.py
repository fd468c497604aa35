"""Every figure of Zaki, Li, Parthasarathy that can be computed, and their 28 cases played.

Where the print and the formulas disagree the formulas are held; the notes say where. The paper's network
polynomials, its t_l and its seeds are not known, so its table is compared by how often, never by which.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import mean

import pytest
from dlbrt.predict.choose import StrategyChoice, choose
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.recurrence import Scenario, evaluate
from dlbrt.predict.redistribute import ModelOptions
from dlbrt.predict.schemes import SCHEMES, Scheme, scheme
from dlbrt.predict.work import Runs
from papers.zaki.cases import CASES, Case, trfd_first, trfd_pairs, trfd_second
from papers.zaki.network import ethernet

from tests.dlbrt.predict import player
from tests.support.tier import pairs, part

ETHERNET = ethernet()
UNIFORM = [case for case in CASES if case.work.prefix is None]
CENTRAL, LOCAL = scheme("GCDLB"), scheme("LDDLB")
#: Ranks work on while the profiles travel, and the profit test counts what moving costs.
OVERLAPPED = ModelOptions(charged=True, reserves=True)


def test_table_1_4_has_28_rows_of_which_19_match() -> None:
    """Section 1.5.5: the 9 others differ by 2.7 % on average and by 8.2 % at most."""
    missed = [case.difference for case in CASES if case.actual != case.predicted]
    assert (len(CASES), len(CASES) - len(missed)) == (28, 19)
    assert round(mean(missed), 3) == 2.684
    assert max(missed) == 8.2
    assert round((25.7 - 24.2) / 24.2 * 100, 3) == 6.198


def test_the_two_claims_of_the_text_that_table_1_4_contradicts() -> None:
    """GDDLB is not always best for MXM, nor a distributed one for AC."""
    assert [case.actual for case in CASES if case.name.startswith("MXM")].count("GCDLB") == 1
    assert [case.actual for case in CASES if case.name.startswith("AC")].count("GCDLB") == 2


def test_sizes_of_trfd() -> None:
    sizes = [case.size for case in CASES if "TRFD" in case.name and "L1" in case.name]
    assert sizes == [465, 820, 1275] * 2
    assert [n * (n + 1) // 2 for n in (30, 40, 50)] == [465, 820, 1275]


def test_the_first_loop_of_trfd_is_linear_in_the_size() -> None:
    assert round(trfd_first(50) / 1275, 2) == 103.96  # 2n + 4


@pytest.mark.parametrize("n", [6, 7, 465, 1275])
def test_bitonic_pairs_of_a_triangular_loop_are_equal_and_an_odd_middle_is_half(n: int) -> None:
    a, b = 3, 5
    work = [a * i + b for i in range(1, n + 1)]
    pairs = [work[i - 1] + work[n - i] for i in range(1, n // 2 + 1)]
    assert set(pairs) == {a * (n + 1) + 2 * b}
    if n % 2:
        assert 2 * work[n // 2] == a * (n + 1) + 2 * b
    assert sum(pairs) + (work[n // 2] if n % 2 else 0) == sum(work)


@pytest.mark.parametrize("n", [100, 150, 200, 250])
def test_the_fold_of_the_adjoint_convolution(n: int) -> None:
    """n^2 - 1 by the paper's O(n^2 - i); n^2 + 1 counting j = i .. n^2 inclusive."""
    assert {n**2 - i + n**2 - (n**2 - i + 1) for i in range(1, n**2 // 2 + 1)} == {n**2 - 1}
    assert {(n**2 - i + 1) + i for i in range(1, n**2 // 2 + 1)} == {n**2 + 1}


def test_the_second_loop_of_trfd_is_not_uniform_after_the_fold() -> None:
    """The paper says uniform, and double the first loop's work; its formula says .93 .. 1.20, and .85."""
    pairs = trfd_pairs(50)[:-1]
    assert (round(min(pairs) / mean(pairs), 2), round(max(pairs) / mean(pairs), 2)) == (0.93, 1.2)
    assert round(mean(pairs) / 2 / trfd_first(50), 2) == 0.85
    assert sum(trfd_pairs(50)) == sum(trfd_second(50, i) for i in range(1, 1276))


def test_bytes_that_move_with_an_iteration() -> None:
    """r doubles of X; a column of the array, two after a fold; nothing for the convolution."""
    moved = {case.name: case.iteration_bytes for case in CASES}
    assert moved["MXM n=400 r=800"] == 8 * 800
    assert moved["TRFD n=50 L1"] == 8 * 1275
    assert moved["TRFD n=50 L2"] == 16 * 1275
    assert moved["AC n=100"] == 0


@pytest.mark.parametrize("case", UNIFORM, ids=lambda case: f"{case.name} on {case.ranks}")
@pytest.mark.parametrize("name", ["GCDLB", "GDDLB"])
def test_without_external_load_the_player_needs_one_synchronization(case: Case, name: str) -> None:
    """eta = 1 where the blocks are equal to an iteration; those of the second loop of TRFD are not."""
    setting = player.loaded(case, ETHERNET, 1.0, 0, most=0)
    assert player.evaluate(setting, scheme(name), case.groups(scheme(name)))[1] == 1


class Row:
    """A case at one t_l: means over load seeds of what was simulated and what was predicted."""

    def __init__(self, case: Case, duration_s: float, seeds: Sequence[int], rules: ModelOptions) -> None:
        self.errors: list[float] = []
        self.regrets: list[float] = []
        none, simulated, predicted, seen = [], [], [], []
        for seed in seeds:
            setting = player.loaded(case, ETHERNET, duration_s, seed, rules)
            none.append(player.static(setting))
            simulated.append([player.evaluate(setting, each, case.groups(each))[0] for each in SCHEMES])
            predicted.append(self.with_all_loads_known(case, setting, none[-1]))
            self.errors += [abs(p / s - 1) for p, s in zip(predicted[-1], simulated[-1], strict=True)]
            makespan_s, choice = automatic(case, setting)
            self.regrets.append(makespan_s / min(*simulated[-1], none[-1]))
            seen.append([dict(choice.predicted_s)[each.name] for each in SCHEMES])
        self.simulated, self.predicted, self.seen = (
            [mean(column) for column in zip(*rows, strict=True)] for rows in (simulated, predicted, seen)
        )
        self.ratio = min(self.simulated) / mean(none)

    @staticmethod
    def with_all_loads_known(case: Case, setting: player.Setting, none_s: float) -> list[float]:
        processors = player.processors(setting, 2 * none_s + 10 * setting.duration_s)
        game = Scenario(case.work, processors, (ETHERNET,), case.iteration_bytes, setting.rules)
        return [evaluate(game, each, case.held(), case.groups(each)).total_s for each in SCHEMES]

    def excess(self, predictions: Sequence[float]) -> float:
        """How much longer than the best the one takes that is predicted to be best."""
        return self.simulated[predictions.index(min(predictions))] / min(self.simulated) - 1


def automatic(case: Case, setting: player.Setting) -> tuple[float, StrategyChoice]:
    """The makespan where a strategy is chosen at the first synchronization, and the choice."""
    made: list[StrategyChoice] = []

    def commit(
        now: float, held: Sequence[Runs], speeds: Sequence[float]
    ) -> tuple[Scheme, Sequence[Sequence[int]]]:
        history = player.history(setting, now, 8)
        known = ModelInputs(
            now, case.work, tuple(held), tuple(speeds), history, case.groups(LOCAL), ETHERNET, (),
            case.iteration_bytes, setting.rules,
        )  # fmt: skip
        made.append(choose(known))
        chosen = scheme(made[0].strategy)
        return chosen, case.groups(chosen)

    makespan_s, _ = player.evaluate(setting, CENTRAL, case.groups(CENTRAL), commit)
    return makespan_s, made[0]


@cache
def table(duration_s: float, rules: ModelOptions) -> list[Row]:
    """More seeds for the shortest t_l, where a case of 10 s is one long iteration more or less."""
    return [Row(case, duration_s, range(6 if duration_s == 2 else 3), rules) for case in CASES]


TABLES = pytest.mark.parametrize(
    ("duration_s", "rules"),
    pairs(part([2.0, 5.0, 20.0], 3), [ModelOptions(), OVERLAPPED]),
    ids=lambda value: f"t_l={value}" if isinstance(value, float) else "overlapped" * (value == OVERLAPPED),
)


@TABLES
def test_balancing_beats_no_balancing_in_all_28_cases(duration_s: float, rules: ModelOptions) -> None:
    assert max(row.ratio for row in table(duration_s, rules)) < 1


@TABLES
def test_the_model_with_all_loads_known_is_as_good_as_the_papers(
    duration_s: float, rules: ModelOptions
) -> None:
    """The paper: 19 of 28, the others 2.7 % off on average and 8.2 % at most."""
    rows = table(duration_s, rules)
    off = [row.excess(row.predicted) for row in rows if row.excess(row.predicted) > 0]
    assert len(rows) - len(off) >= 19
    assert mean(off or [0.0]) <= 0.027
    assert max(off, default=0.0) <= 0.082
    assert mean(error for row in rows for error in row.errors) < 0.005


@TABLES
def test_the_model_with_the_loads_seen_so_far(duration_s: float, rules: ModelOptions) -> None:
    """What is predicted to be best on average is, or takes little longer."""
    rows = table(duration_s, rules)
    assert mean(row.excess(row.seen) for row in rows) < 0.02
    assert max(row.excess(row.seen) for row in rows) < 0.15


@TABLES
def test_choosing_at_the_first_synchronization_costs_little(duration_s: float, rules: ModelOptions) -> None:
    """Against the best of all strategies forced, in hindsight: each seed's future load is not known."""
    regrets = [regret for row in table(duration_s, rules) for regret in row.regrets]
    assert mean(regrets) < (1.01 if rules.reserves else 1.03)
