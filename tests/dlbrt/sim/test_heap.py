"""The order of what is to come is total."""

from __future__ import annotations

from functools import partial

from dlbrt.sim.worker import EventQueue


def test_steps_come_by_time_then_priority_then_as_they_were_asked_for() -> None:
    heap, seen = EventQueue(), list[tuple[str, float]]()

    def note(name: str, now: float) -> None:
        seen.append((name, now))

    for name, when, priority in (("a", 2.0, 0), ("b", 1.0, 2), ("c", 1.0, 0), ("d", 1.0, 0), ("e", 0.5, 9)):
        heap.schedule(when, priority, partial(note, name))
    assert heap.run() == 5
    assert seen == [("e", 0.5), ("c", 1.0), ("d", 1.0), ("b", 1.0), ("a", 2.0)]


def test_a_step_may_ask_for_others_at_its_own_time() -> None:
    heap, seen = EventQueue(), list[str]()

    def first(now: float) -> None:
        seen.append("first")
        heap.schedule(now, 0, lambda _: seen.append("before"))
        heap.schedule(now, 2, lambda _: seen.append("after"))

    heap.schedule(1.0, 1, first)
    heap.schedule(1.0, 1, lambda _: seen.append("second"))
    assert heap.run() == 4
    assert seen == ["first", "before", "second", "after"]
