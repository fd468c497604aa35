"""The choice at the first synchronization, and its record."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from dlbrt.predict.choose import choose
from dlbrt.predict.effective_speed import LoadForecast
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.network import Network, Pattern
from dlbrt.predict.schemes import SCHEMES
from dlbrt.predict.work import IterationCosts, Runs
from papers.zaki.network import ethernet


def known(ranks: int = 4, left: int = 1000, network: Network | None = None) -> ModelInputs:
    """Rank 0 has run out, the others have been slowed down more and more."""
    speeds = tuple(1 / (1 + rank % 4) for rank in range(ranks))
    slices = tuple((speed, min(1.0, 2 * speed), speed) for speed in speeds)
    sizes = [0 if rank == 0 else left * (rank % 4 + 1) // 4 for rank in range(ranks)]
    held: tuple[Runs, ...] = tuple(
        ((rank * left, rank * left + size),) if size else () for rank, size in enumerate(sizes)
    )
    groups = (tuple(range(ranks // 2)), tuple(range(ranks // 2, ranks)))
    history = LoadForecast(slices, 2.0, (1.0,) * ranks)
    return ModelInputs(6.0, IterationCosts(0.01), held, speeds, history, groups, network or Network.default())


def test_the_cheapest_is_chosen_and_all_are_in_the_record() -> None:
    choice = choose(known())
    record = json.loads(json.dumps(choice.record()))
    assert set(record["predicted_s"]) == {"none", "GCDLB", "GDDLB", "LCDLB", "LDDLB"}
    assert record["predicted_s"][record["choice"]] == min(record["predicted_s"].values())
    assert record["inputs"]["iterations_left"] == [0, 500, 750, 1000]
    assert record["inputs"]["work_left"] == pytest.approx([0.0, 5.0, 7.5, 10.0])
    assert Network.from_json(json.dumps(record["inputs"]["network"])) == Network.default()
    assert record["paths"] == choice.paths == 8
    assert choice.strategy != "none"


def test_predictions_are_from_the_loops_beginning() -> None:
    """Without balancing, on the path of means, rank 3 needs 10 s of work at the mean of 1/4, 1/2, 1/4."""
    predicted_s = dict(choose(known(), paths=1).predicted_s)
    assert predicted_s["none"] == pytest.approx(6 + 10 / (1 / 3))


def test_every_rank_chooses_the_same_from_the_same() -> None:
    one = known(16)
    other = pickle.loads(pickle.dumps(one))
    assert choose(one).predicted_s == choose(other).predicted_s
    assert choose(one).record() == choose(other).record()


def test_where_messages_cost_more_than_the_rest_of_the_loop_nothing_is_balanced() -> None:
    dear = Pattern((-1e3, 1e3))
    hopeless = Network(1e3, 1e6, dear, dear, dear)
    assert choose(known(network=hopeless)).strategy == "none"


def test_fast_networks_within_the_groups_favour_local_strategies() -> None:
    slow = ethernet(20.0)
    alike = known(8, 4000, slow)
    near = replace(alike, within=(Network.default(),) * 2)
    for strategy in ("LDDLB", "LCDLB"):
        assert dict(choose(near).predicted_s)[strategy] < dict(choose(alike).predicted_s)[strategy]
    assert dict(choose(near).predicted_s)["GDDLB"] == dict(choose(alike).predicted_s)["GDDLB"]


def test_of_equal_ones_the_first_is_taken() -> None:
    nothing = replace(known(), held=((), (), (), ()))
    free = replace(nothing, rules=replace(nothing.rules, decision_s=0.0))
    assert choose(free).strategy == SCHEMES[0].name
    assert {seconds for _, seconds in choose(free).predicted_s} == {6.0}


def test_what_is_not_of_the_same_ranks_is_refused() -> None:
    for change in (
        {"speeds": (1.0,)},
        {"groups": ((0, 1), (2,))},
        {"groups": ((0, 1), (1, 2, 3))},
        {"within": (Network.default(),)},
        {"history": LoadForecast(((1.0,),), 1.0)},
    ):
        with pytest.raises(ValueError, match="expected"):
            replace(known(), **change)


def test_one_rank_has_nothing_to_choose() -> None:
    alone = ModelInputs(
        1.0,
        IterationCosts(1.0),
        (((0, 5),),),
        (1.0,),
        LoadForecast(((1.0,),), 1.0),
        ((0,),),
        Network.default(),
    )
    assert {seconds for _, seconds in choose(alone).predicted_s} == {6.0}
