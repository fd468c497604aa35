"""Progress bars: what is known of each loop while it runs, as a line, and the lines that stand on a terminal.

A loop has one line, whatever ranks do its iterations and however often it runs. The line of a loop whose runs
are long shows the run under way, with the time that is left of it at the rate so far. Of many short runs it
shows how many there were. tqdm formats the lines, and nothing else: it would start a thread, and its bars
know one process. Lines are drawn and erased here, so that what the program prints comes between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: Seconds between two times that lines are drawn: drawing takes about a tenth of a millisecond.
DRAWN_EVERY_S = 0.1

#: Lines at most. Of more loops those that ran last have one.
_LINES = 5

#: A loop whose last run was shorter has no bar, which would go to and fro. In seconds.
_SHORT_RUN_S = 1.0

#: A loop that has taken less in all has no line at the end, in seconds.
_WORTH_S = 0.1

#: Balance is not shown before so many seconds, since reports of ranks come now and then.
_BALANCE_AFTER_S = 1.0

_UP, _ERASE_BELOW, _ERASE_LINE = "\x1b[{}A", "\r\x1b[J", "\x1b[K"

#: ``tqdm.format_meter``.
Formatter = Callable[..., str]


class RankProgress:
    """What a rank has reported of the run under way: iterations, and seconds computing of ``elapsed_s``."""

    def __init__(self) -> None:
        self.done = 0
        self.compute_s = self.elapsed_s = 0.0
        self.ended = False


class LoopProgress:
    """What is known of one loop, and of its run under way, if there is one.

    ``source`` is its place; ``n`` the iterations of its run; ``now`` is in seconds of any clock.
    """

    def __init__(self, source: str, ranks: int) -> None:
        self.source = source
        self.runs = self.n = self.last = 0
        self.total_s = self.run_s = 0.0  # of the runs that have ended, and of the last of them
        self.total = 0  # iterations of the runs that have ended
        self.running = False
        self.left = False  # whether its line has been drawn for good
        self.by_rank = [RankProgress() for _ in range(ranks)]
        self._started = 0.0

    @property
    def done(self) -> int:
        """The iterations done of the run under way, or of the last one."""
        return min(self.n, sum(each.done for each in self.by_rank)) if self.running else self.last

    def begin(self, n: int, now: float) -> None:
        """A run of ``n`` iterations begins."""
        self.n, self.running, self.left, self._started = n, True, False, now
        self.runs += 1
        self.by_rank = [RankProgress() for _ in self.by_rank]

    def end(self, compute_s: Sequence[float], done: int, now: float) -> None:
        """The run has ended, with ``done`` iterations; the seconds that each rank has computed."""
        self.running, self.last, self.run_s = False, min(done, self.n), now - self._started
        self.total += self.last
        self.total_s += self.run_s
        for each, seconds in zip(self.by_rank, compute_s, strict=False):
            each.compute_s, each.elapsed_s, each.ended = seconds, self.run_s, True

    def repeated(self, n: int, seconds: float) -> None:
        """A whole run of ``n`` iterations has been repeated in so many seconds."""
        self.runs, self.n, self.last, self.run_s, self.left = self.runs + 1, n, n, seconds, False
        self.total, self.total_s = self.total + n, self.total_s + seconds

    def seconds(self, now: float) -> float:
        """How long all runs have taken."""
        return self.total_s + (now - self._started if self.running else 0.0)

    def balance(self, now: float) -> float | None:
        """Mean over maximum of the parts of the time that ranks have computed, as far as they have reported.

        A rank that has reported its end is idle from then on. None where one rank computes, or it is too soon
        to say.
        """
        run_s = now - self._started if self.running else self.run_s
        if run_s < _BALANCE_AFTER_S or not any(each.compute_s for each in self.by_rank[1:]):
            return None
        spans = [run_s if each.ended else each.elapsed_s for each in self.by_rank]
        parts = zip(self.by_rank, spans, strict=True)
        busy = [each.compute_s / span if span else 0.0 for each, span in parts]
        return sum(busy) / len(busy) / max(busy) if any(busy) else None

    def line(self, formatted: Formatter, now: float, width: int) -> str:
        """The loop as a line of at most ``width`` characters."""
        balance = self.balance(now)
        options: dict[str, Any] = {"ncols": width, "unit": "it"}
        if balance is not None:
            options["postfix"] = f"balance {balance:.2f}"
        run_s = now - self._started if self.running else self.run_s
        numbered = f"{self.source}, run {self.runs}" if self.runs > 1 else self.source
        if self.runs > 1 and self.total_s / (self.runs - self.running or 1) < _SHORT_RUN_S > run_s:
            count = self.total + (self.done if self.running else 0)
            found = formatted(count, None, self.seconds(now), prefix=numbered, **options)
        else:
            found = formatted(self.done, self.n, run_s, prefix=numbered, **options)
        return found[:width]


class ProgressLines:
    """The lines of a program's loops on a terminal.

    ``write`` writes to it at once; ``width`` gives its width in characters; ``formatted`` formats a line.
    """

    def __init__(
        self, write: Callable[[str], object], width: Callable[[], int], formatted: Formatter
    ) -> None:
        self._write, self._width, self._formatted = write, width, formatted
        self._loops: list[LoopProgress] = []  # that have lines, in their order
        self._all: list[LoopProgress] = []
        self._standing = 0  # lines on the terminal, the cursor at the end of the last
        self.within_line = False  # whether the program has begun a line of its own

    def add(self, loop: LoopProgress, now: float) -> None:
        """A run of this loop begins."""
        if loop not in self._all:
            self._all.append(loop)
        if loop in self._loops:
            return
        if len(self._loops) == _LINES:
            oldest = next(each for each in self._loops if not each.running)
            self._loops.remove(oldest)
            if oldest.runs == 1 and oldest.seconds(now) >= _WORTH_S:
                self._leave([oldest], now)
        self._loops.append(loop)

    def draw(self, now: float) -> None:
        """Draw all lines, over those that stand."""
        shown = [each for each in self._loops if each.running or each.seconds(now) >= _WORTH_S]
        if not shown:
            return
        if self.within_line:
            self._write("\n")
            self.within_line = False
        text = self._above() if self._standing <= len(shown) else self._above() + _ERASE_BELOW
        text += "\n".join(f"\r{line}{_ERASE_LINE}" for line in self._lines(shown, now))
        self._standing = len(shown)
        self._write(text)

    def clear(self) -> None:
        """Erase the lines, so that the program can print where they stand."""
        if self._standing:
            self._write(self._above() + _ERASE_BELOW)
            self._standing = 0

    def close(self, now: float) -> None:
        """The program ends: leave the lines of all loops that took some time."""
        self.clear()
        self._leave([each for each in self._all if not each.left and each.seconds(now) >= _WORTH_S], now)
        self._loops, self._all = [], []

    def _leave(self, loops: Sequence[LoopProgress], now: float) -> None:
        self.clear()
        if loops and self.within_line:
            self._write("\n")
            self.within_line = False
        for each, line in zip(loops, self._lines(loops, now), strict=True):
            each.left = True
            self._write(f"{line}\n")

    def _lines(self, loops: Sequence[LoopProgress], now: float) -> list[str]:
        # A line as wide as the terminal would wrap on some.
        width = max(20, self._width() - 1)
        return [each.line(self._formatted, now, width) for each in loops]

    def _above(self) -> str:
        return _UP.format(self._standing - 1) if self._standing > 1 else ""
