"""Interrupts from the keyboard outside iterations: none is lost, and none leaves the runtime halfway."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from dlbrt.mpi.interrupts import Interrupts
from dlbrt.mpi.root.program_history import ProgramHistory
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.options import Options


class Alone:
    """A communicator of one rank; ``meanwhile`` is called when it looks for deaths."""

    rank, ranks, tolerates_deaths = 0, 1, False

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] = lambda: None

    def check(self) -> None:
        self.meanwhile()


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def alone() -> Alone:
    return Alone()


@pytest.fixture
def root_runtime(alone: Alone) -> RootRuntime:
    unused: Any = alone
    return RootRuntime(unused, Options.read({}, 1), ProgramHistory(1, ["here"], None, None, ""))


def leads(root_runtime: RootRuntime, *, wait: bool = False) -> bool:
    with root_runtime.turn(wait=wait) as turn:
        return turn


@pytest.mark.parametrize("wait", [False, True])
def test_an_interrupt_while_deaths_are_looked_for_comes_before_the_loop(
    root_runtime: RootRuntime, alone: Alone, wait: bool
) -> None:
    alone.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        leads(root_runtime, wait=wait)
    alone.meanwhile = lambda: None
    assert leads(root_runtime, wait=wait)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_within_a_turn_there_is_no_other(root_runtime: RootRuntime) -> None:
    with root_runtime.turn() as turn:
        assert turn
        assert not leads(root_runtime, wait=True)
    assert leads(root_runtime)


def test_an_interrupt_at_any_call_gives_the_turn_back(root_runtime: RootRuntime) -> None:
    """Python runs handlers of signals where calls begin and end, as it does functions of `sys.setprofile`."""

    def is_interrupted(number: int) -> bool:
        calls = itertools.count(1)

        def profile(*_: object) -> None:
            if next(calls) == number:
                interrupt()

        try:
            sys.setprofile(profile)
            leads(root_runtime)
            sys.setprofile(None)
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)
        return False

    calls = next(number for number in itertools.count(1) if not checked(root_runtime, is_interrupted, number))
    assert calls > 20


def checked(root_runtime: RootRuntime, is_interrupted: Callable[[int], bool], number: int) -> bool:
    """Whether there is a call of that number; the turn is free after an interrupt there."""
    came = is_interrupted(number)
    assert leads(root_runtime), number
    return came


@pytest.mark.parametrize("ends", [(1, 0), (0, 1)], ids=["one within the other", "overlapping"])
def test_an_interrupt_waits_for_the_end_of_the_last_block(ends: tuple[int, int]) -> None:
    held, stacks = Interrupts(), [ExitStack(), ExitStack()]
    for stack in stacks:
        stack.enter_context(held.held())
    interrupt()
    stacks[ends[0]].close()
    assert held.pending
    with pytest.raises(KeyboardInterrupt):
        stacks[ends[1]].close()
    assert not held.pending
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_block_in_another_thread_takes_no_interrupt() -> None:
    held, found = Interrupts(), []

    def run() -> None:
        with held.held():
            interrupt()
            thread = threading.Thread(target=enter)
            thread.start()
            thread.join()
            found.append(held.pending)

    def enter() -> None:
        with held.held():
            pass

    with pytest.raises(KeyboardInterrupt):
        run()
    assert found == [True]


def test_an_interrupt_that_is_put_off_is_pending_afterwards() -> None:
    held, found = Interrupts(), []

    def run() -> None:
        with held.held():
            with held.put_off():
                interrupt()
                found.append(held.pending)
            found.append(held.pending)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert found == [False, True]
