"""The cell magic: compile the cell, run it as a job, show what it prints, and take over what it leaves."""

from __future__ import annotations

import argparse
import html
import json
import os
import pickle
import re
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from dlbrt.cell.variables import take_over

from dlbc.commands import common, run
from dlbc.commands.kept_programs import WholeProgram
from dlbc.diagnostics.diagnostic import excerpt, has_errors, render
from dlbc.notebook.cell_program import CannotSendError, CellProgram, CellSource
from dlbc.parse.find_modules import SearchPath
from dlbc.pipeline import transform
from dlbc.source import SourcePlace

#: How long the job may take to end once the kernel has told it to, in seconds.
_GRACE_S = 8.0


class CellError(Exception):
    """The cell was not run, or has failed; what is shown of it are ``lines``."""

    def __init__(self, message: str, lines: list[str] | None = None) -> None:
        super().__init__(message)
        self.lines = lines or [f"dlb: {message}"]

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback of its own code."""
        return self.lines


def register(shell: Any) -> None:
    """Add ``%%dlb`` to a shell; ``%%dlb?`` shows its options."""

    def magic(line: str, cell: str) -> None:
        dlb(shell, line, cell)

    magic.__doc__ = f"Run the annotated loops of the cell on local ranks.\n\n{_parser().format_help()}"
    shell.register_magic_function(magic, "cell", "dlb")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CellError(f"%%dlb: {message}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%dlb", add_help=False, allow_abbrev=False)
    run.add_settings(parser)
    parser.add_argument("--report", action="store_true", help="show the report of the run below the cell")
    return parser


def dlb(shell: Any, line: str, cell: str) -> None:
    """Run a cell on ranks: ``%%dlb -n 4 [options of dlbc run] [--report]``.

    CellError if it cannot be run; else what the cell raises.
    """
    words = shlex.split(line)
    if {"-h", "--help"} & {*words}:
        print(_parser().format_help())
        return
    options = _parser().parse_args(words)
    namespace = shell.user_ns
    try:
        program = CellProgram.of(cell, namespace)
    except SyntaxError as error:
        mark = " " * ((error.offset or 1) - 1) + "^"
        place = f"cell, line {(error.lineno or 0) + 1}: SyntaxError: {_in_cell(error.msg)}"
        shown = [place, f"    {(error.text or '').rstrip()}", f"    {mark}"]
        if (error.text or "").lstrip().startswith(("%", "!")):
            shown.append("  magics and shell commands are for cells without `%%dlb`")
        raise CellError(str(error), shown) from None
    shared = run.shared_directory(Path("cell.py"))
    with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared) as name:
        directory = Path(name)
        try:
            job = _Job(program, options, directory, namespace)
        except CannotSendError as error:
            raise CellError(str(error)) from None
        status = job.run()
        job.finish(status)


class _Job:
    """The run of one cell."""

    def __init__(
        self, program: CellProgram, options: argparse.Namespace, directory: Path, namespace: dict[str, Any]
    ) -> None:
        self._program, self._options, self._directory = program, options, directory
        self._namespace = namespace
        self._path = directory / "cell.py"
        self._path.write_text(program.text)
        self._source = program.source(self._path)
        roots = (Path.cwd(),)
        search = SearchPath(roots, tuple(path for paths in options.follow for path in paths))
        result = transform(self._source, strict=options.strict, search=search)
        shown = [render(each, self._source) for each in result.diagnostics if each.code != "DLB006"]
        if has_errors(result.diagnostics):
            raise CellError("the cell has errors", shown)
        if any(each.code == "DLB006" for each in result.diagnostics):
            shown.append("dlb: the cell has no `# dlb:` annotation, and runs on one rank")
        for each in shown:
            print(each, file=sys.stderr, flush=True)
        generated = ((self._path, result.text),) if result.parallel and result.text is not None else ()
        self._whole = WholeProgram(self._path, "", generated, roots, (), False, options.strict)
        self._order = program.write(directory / "sent", namespace)

    def run(self) -> int:
        """Run the job; its status. What it prints is shown as it comes."""
        options, ranks = self._options, self._options.ranks if self._whole.parallel else 1
        options.summary = "0" if options.summary is False else "1"
        if options.report:
            options.trace = str(self._directory / "trace.json")
        settings = common.settings_of(options)
        if problem := run.malformed(settings, options.ranks):
            raise CellError(f"%%dlb: {problem}")
        plan = run.write_plan(self._whole, ranks, self._directory)
        content = json.loads(plan.read_text())
        content |= {"cell": str(self._directory), "defines": self._program.defines}
        content |= {"by_name": self._program.by_name}
        plan.write_text(json.dumps(content))
        try:
            start = run.launcher(ranks)
        except run.CannotStartError as error:
            raise CellError(str(error)) from None
        words = [json.dumps([start, ["-m", "dlbrt.script", str(plan)], settings])]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "dlbc.notebook.job", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        try:
            return _show_until_end(process, self._source)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def finish(self, status: int) -> None:
        """Take over what the cell has left, and raise what it has raised."""
        if (self._directory / "left").exists():
            lost = take_over(self._directory, self._namespace, self._order, self._define)
        elif not (self._directory / "failure").exists():
            raise CellError(f"the job has ended with status {status}, and has left nothing in the notebook")
        else:
            lost = {}
        if self._options.report:
            _show_report(self._directory / "trace.json")
        if (self._directory / "failure").exists():
            raise self._error()
        if lost:
            name, reason = next(iter(lost.items()))
            raise CellError(f"the variable {name} of the cell cannot come back to the notebook ({reason})")
        if status:
            raise CellError(f"the cell has ended with status {status}")

    def _define(self, names: list[str]) -> None:
        self._program.define(names, self._namespace, self._path)

    def _error(self) -> BaseException:
        """What the cell has raised, shown with the cell's lines."""
        kind, text, frames, data = pickle.loads((self._directory / "failure").read_bytes())
        lines = ["Traceback (most recent call last):"]
        for filename, line, column, end_line, end_column, function in frames:
            if filename == str(self._path):
                lines += _shown_frame(self._source, line, column, end_line, end_column, function)
            elif "dlbrt" not in Path(filename).parts:
                lines.append(f'  File "{filename}", line {line}, in {function}')
        lines += self._source.named(text).rstrip().splitlines()
        try:
            error: BaseException = pickle.loads(data)
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
        except Exception:  # it cannot be read, or takes no attributes
            error = CellError(f"{kind}: {self._source.named(text)}", lines)
        return error


def _in_cell(message: str) -> str:
    """A message of the parser, with the line of the cell, of which that of the magic is the first."""
    return re.sub(r"\bon line (\d+)", lambda found: f"on line {int(found[1]) + 1}", message)


def _shown_frame(
    source: CellSource,
    line: int,
    column: int | None,
    end_line: int | None,
    end_column: int | None,
    function: str,
) -> list[str]:
    """A frame of the cell: its line with what failed marked."""
    head = f"  cell, {source.line_name(line)}, in {function}"
    if column is None or end_column is None or end_line != line:
        return [head, f"    {source.line(line).strip()}"]
    return [head, *excerpt(source, SourcePlace(line, column + 1, line, end_column + 1), "", "^")]


def _show_until_end(process: subprocess.Popen[bytes], source: CellSource) -> int:
    """Show what a process prints, as it comes; interrupts go to it. Its status."""
    selector = selectors.DefaultSelector()
    for pipe, stream in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
        assert pipe is not None
        selector.register(pipe, selectors.EVENT_READ, stream)
    interrupted = False
    while True:
        try:
            while selector.get_map():
                for key, _ in selector.select():
                    data = os.read(key.fd, 65536)
                    if not data:
                        selector.unregister(key.fileobj)
                    key.data.write(source.named(data.decode(errors="replace")))
                    key.data.flush()
            return process.wait(_GRACE_S)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM if interrupted else signal.SIGINT)
            interrupted = True


def _show_report(trace: Path) -> None:
    """Show the page of a trace below the cell."""
    import IPython.display

    from dlbc.commands.report import CannotReportError, report

    try:
        page = html.escape(report(str(trace), "-"), quote=True)
    except CannotReportError as error:
        print(f"dlb: {error}", file=sys.stderr)
        return
    # In a `div`, since IPython warns of a frame by itself.
    frame = f'<div><iframe srcdoc="{page}" width="100%" height="600" style="border: 0"></iframe></div>'
    shown: Any = IPython.display
    shown.display(shown.HTML(frame))
