"""A loop of a program, to be played: what the compiler finds of it, with numbers put in."""

from __future__ import annotations

from pathlib import Path

from dlbc.diagnostics import has_errors
from dlbc.ir.report import LoopReport
from dlbc.parse.read_source import read_source
from dlbc.pipeline import explain
from dlbc.simulate.described import SimulatedLoop
from dlbc.simulate.loops import LoopSettings, describe_loop
from dlbc.simulate.problems import FaultyProgramError, Problems
from dlbc.simulate.request import SimulationRequest, choose_loop, read_number
from dlbc.simulate.values import read_settings

__all__ = ["loop_of_program"]

#: What an iteration takes on average, unless that is said.
_ITERATION_S = 1e-3


def loop_of_program(path: str, request: SimulationRequest) -> SimulatedLoop:
    """The loop that is asked for. FaultyProgramError, CannotSimulateError."""
    terms = _terms(request)
    reports = _reports(path)
    places = {report.loop.number: f"line {report.loop.node.lineno}" for report in reports}
    number = choose_loop(path, request.loop, places)
    [report] = [report for report in reports if report.loop.number == number]
    return describe_loop(report, Path(path).name, terms)


def _terms(request: SimulationRequest) -> LoopSettings:
    problems, given = Problems(), request.iteration_s
    with problems.kept():
        settings = read_settings(request.settings)
    with problems.kept():
        iteration_s = _ITERATION_S if given is None else read_number("--iteration-s", given, above=True)
    with problems.kept():
        size = None if request.bytes is None else read_number("--bytes", request.bytes)
    problems.end()
    return LoopSettings(settings, iteration_s, size)


def _reports(path: str) -> tuple[LoopReport, ...]:
    source, problems = read_source(path)
    if problems:
        raise FaultyProgramError(source, tuple(problems))
    result = explain(source)
    if has_errors(result.diagnostics):
        raise FaultyProgramError(source, result.diagnostics)
    return result.reports
