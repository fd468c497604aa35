"""What rank 0 runs loops with: one loop at a time on all ranks, and a record of what the other ranks have."""

from __future__ import annotations

import itertools
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from dlbrt.data.field import Field
from dlbrt.mpi.board import board
from dlbrt.mpi.call import CallCache, LoopCall
from dlbrt.mpi.communicator import Communicator, RanksLostError
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.root.program_history import ProgramHistory
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, RowRequests
from dlbrt.mpi.team import clock
from dlbrt.mpi.values.contents import SlotPublisher
from dlbrt.mpi.values.kernels import SentKernel, Signature
from dlbrt.mpi.values.objects import RootObjects
from dlbrt.mpi.values.program_state import InterpreterState, capture
from dlbrt.observe.terminal import write_line
from dlbrt.options import Options
from dlbrt.parameters import Parameters
from dlbrt.predict.network import Network, Networks

if TYPE_CHECKING:
    from dlbrt.mpi.loop import LoopContext
    from dlbrt.mpi.output.progress import RootProgress
    from dlbrt.mpi.perform import RankResult
    from dlbrt.mpi.root.preparation import Preparation
    from dlbrt.mpi.root.solo_runs import SoloRuns
    from dlbrt.observe.trace_writer import TraceWriter


class RootRuntime:
    """The means of a session to run loops; `dlbrt.mpi.root.run` runs them.

    Only one loop at a time runs on all ranks. A loop runs on the rank that meets it alone if it is met inside
    another loop (always so on ranks above 0), while another thread runs one, or in a forked process.
    """

    def __init__(self, communicator: Communicator, options: Options, program_history: ProgramHistory) -> None:
        self.communicator = communicator
        self.options = options
        self.publisher = SlotPublisher(communicator)
        self.program_history = program_history
        self._parameters = Parameters(adapts=options.adapt, whole_history=options.whole_history)
        self.networks = Networks(Network.default())
        # The program may change the directory before it ends.
        self._stats = os.path.abspath(options.stats) if options.stats else None
        self._trace = os.path.abspath(options.trace) if options.trace else None
        self.tracing: TraceWriter | None = None
        self.progress: RootProgress | None = None
        self.serials = itertools.count(1)  # of calls
        self._called = False  # whether the other ranks take part in the run under way
        self._process = os.getpid()
        self._idle = threading.Lock()
        self._leader: int | None = None  # the thread whose run is under way
        self._call_cache = CallCache()
        self._bodies: dict[str, bytes] = {}
        self._kernels: dict[str, SentKernel] = {}
        self._state: InterpreterState | None = None
        self.solo_runs: SoloRuns | None = None
        #: Each puts together at rank 0 what a routine has had on ranks that have died, or forgotten it.
        self.restorers: list[Callable[[], None]] = []

    @contextmanager
    def turn(self, *, wait: bool = False) -> Iterator[bool]:
        """Gives whether a loop may run on all ranks in the block; interrupts wait there then.

        With ``wait`` a run in another thread ends first.
        """
        if self.leading or not self._at_root:
            yield False
            return
        if wait:
            with self._idle:  # outside the next block, where Ctrl-C would wait as well
                pass
        with interrupts.held():
            if self._idle.acquire(blocking=wait):
                try:
                    self._called, self._leader = False, threading.get_ident()
                    self._notice_deaths()
                    yield True
                finally:
                    interrupts.watch(None)  # a walk holds the program's arrays
                    self._leader = None
                    self._idle.release()
                return
        yield False

    @property
    def has_ranks(self) -> bool:
        """Whether loops that begin here may run on other ranks."""
        return self._at_root and self.communicator.ranks > 1 and not self.leading

    @property
    def _at_root(self) -> bool:
        """Whether this is rank 0 itself, not a process that the program has forked."""
        return not self.communicator.rank and os.getpid() == self._process

    @property
    def leading(self) -> bool:
        """Whether this thread is inside a run on all ranks."""
        return self._leader == threading.get_ident()

    def fetch(self, array_transfers: Sequence[ArrayTransfer], fields: Mapping[int, Field]) -> None:
        """Have ranks send rows to rank 0; ``fields`` are the arrays by number.

        Where ranks die meanwhile, the rows come from a checkpoint (`restorers`). A run in another thread ends
        first. The caller has interrupts wait. RuntimeError in a process that the program has forked.
        """
        if os.getpid() != self._process:
            raise RuntimeError("arrays that are on other ranks cannot be read in a forked process")
        if self.leading:
            try:
                self._fetch(array_transfers, fields)
            except RanksLostError as error:
                self.recover(error)
            return
        with self._idle:
            self._leader = threading.get_ident()
            try:
                self._fetch(array_transfers, fields)
            except RanksLostError as error:
                self.recover(error)
            finally:
                self._leader = None

    def _fetch(self, array_transfers: Sequence[ArrayTransfer], fields: Mapping[int, Field]) -> None:
        requests: dict[int, RowRequests] = {}
        mover = Mover(self.communicator, (), RootObjects())
        for each in array_transfers:
            source, rows = each.row_transfer.source, each.row_transfer.rows
            requests.setdefault(source, []).append((each.number, each.axis, rows))
            mover.receive_rows(fields[each.number], rows, source)
        for source, wanted in requests.items():
            self.communicator.command(pickle.dumps(wanted, pickle.HIGHEST_PROTOCOL), (source,))
        mover.complete()

    def recover(self, called_off: object) -> None:
        """Some ranks have died: go on with the others, which have forgotten all that they had."""
        from dlbrt.mpi.tolerance import TolerantCommunicator

        assert isinstance(self.communicator, TolerantCommunicator), "no other raises RanksLostError"
        alive = self.communicator.recover(called_off)
        self.publisher = SlotPublisher(self.communicator)
        self._call_cache, self._bodies, self._kernels = CallCache(), {}, {}
        self._state = None
        if weights := self.options.weights:
            self.options = replace(self.options, weights=tuple(weights[rank] for rank in alive))
        self.program_history.go_on_with(alive)
        for restore in [*self.restorers]:
            restore()

    def _notice_deaths(self) -> None:
        try:
            self.communicator.check()
        except RanksLostError as error:
            self.recover(error)

    def abort(self, error: BaseException) -> None:
        """End the job because of an error outside the body: the other ranks cannot go on without rank 0.

        Before they are called to the run, an interrupt from the keyboard is left to the program.
        """
        if self.communicator.ranks > 1 and (self._called or not isinstance(error, KeyboardInterrupt)):
            self.communicator.fail(error)

    def send_call(self, call: LoopCall, kernel: SentKernel | None, state: InterpreterState | None) -> None:
        """Send a call to all other ranks, without its body where they have it from the loop's last call.

        ``kernel`` is the kernel that was sent apart from the body, if so; ``state`` the interpreter's, where
        it has changed.
        """
        self._called = True
        self.communicator.restart_counter()
        self._state = state or self._state
        if kernel is not None:
            self._kernels[call.key] = kernel
        if self._bodies.get(call.key) == call.body:
            call = replace(call, body=None)
        elif call.body is not None:
            self._bodies[call.key] = call.body
        self._send_to_workers(pickle.dumps(self._call_cache.shortened(call), pickle.HIGHEST_PROTOCOL))

    def call_again(self, message: bytes) -> None:
        """Have all other ranks repeat a run, or tell them how (`dlbrt.mpi.routines.run_repeater`)."""
        self._called = True
        self._send_to_workers(message)

    def note_solo(self, prepared: Preparation, loop: LoopContext, result: RankResult, strategy: str) -> None:
        """Rank 0 has done a whole loop with compiled chunks alone."""
        from dlbrt.mpi.root.solo_runs import SoloRuns  # most programs compile nothing

        if self.solo_runs is None:
            self.solo_runs = SoloRuns(self)
        self.solo_runs.note(prepared, loop, result, strategy)

    def sent_kernel(self, key: str, signature: Signature) -> SentKernel | None:
        """The kernel of that signature, if the other ranks have it."""
        sent = self._kernels.get(key)
        return sent if sent is not None and sent.signature == signature else None

    @property
    def parameters(self) -> Parameters:
        """The parameters of balancing, on this network."""
        byte_s = 1 / self.network.bandwidth
        if self._parameters.byte_s != byte_s:
            self._parameters = replace(self._parameters, byte_s=byte_s)
        return self._parameters

    @property
    def network(self) -> Network:
        """The network among all ranks."""
        return self.networks.whole

    def changed_state(self) -> InterpreterState | None:
        """The interpreter's state if it differs from the state sent last."""
        now = capture()
        return None if now == self._state else now

    def forget_state(self) -> None:
        """The other ranks may not have taken over the interpreter's state that was sent last."""
        self._state = None

    def stop(self) -> None:
        """Let the other ranks end, and write what is to be written; a loop in another thread ends first."""
        if self._at_root:
            self._idle.acquire()
            interrupts.ignore()
            board.leave()
            self._close_progress()
            self._dismiss()
            self.communicator.close()
            if self.solo_runs is not None:
                self.solo_runs.enter()
            if self._stats:
                self.program_history.write(self._stats)
            self._write_trace()
            self.program_history.remember(trial=self.options.trial)
            if self.options.summary:
                self.program_history.show_summary()

    def _write_trace(self) -> None:
        """Write the trace; a path that cannot be written is reported, and the program goes on."""
        if self.tracing is None or self._trace is None:
            return
        from dlbrt.observe.whole_program import traced_program

        began, ranks = self.tracing.began, self.communicator.ranks
        figures, elapsed_s = self.program_history.statistics(), clock() - began
        self.tracing.program = traced_program(ranks, began, elapsed_s, self.tracing.tracing_s, figures)
        try:
            self.tracing.write(self._trace)
        except OSError as error:
            write_line(f"dlb: the trace could not be written: {error}")

    def shut_down_workers(self) -> bool:
        """Let the other ranks end at once; False while a loop runs, and in a forked process."""
        if not self._at_root or not self._idle.acquire(blocking=False):
            return False
        self._close_progress()
        self._dismiss()
        self.communicator.close()
        return True

    def _close_progress(self) -> None:
        if self.progress is not None:
            self.progress.close()

    def _dismiss(self) -> None:
        """Let the other ranks end."""
        while True:
            try:
                self._send_to_workers(b"")
            except RanksLostError as error:
                self.recover(error)
            else:
                return

    def _send_to_workers(self, message: bytes) -> None:
        self.communicator.command(message, range(1, self.communicator.ranks))
