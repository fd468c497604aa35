"""From the bytes of a program to the bytes of its parallel form: the stages in order."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dlbrt.records import dataclass

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, has_errors, in_order
from dlbc.ir.loop import Module
from dlbc.ir.plan import LoopPlan, LoopReport, ReportDetail
from dlbc.ir.routine import RoutinePlan
from dlbc.parse.find_loops import find_candidates, find_loops, find_routines
from dlbc.parse.find_modules import ModuleFinder, SearchPath
from dlbc.parse.read_source import WHOLE_FILE, check_literals, check_program, parse_module, read_source
from dlbc.source import Source, SourcePlace

if TYPE_CHECKING:
    from dlbc.analysis.call_targets import ProgramModule
    from dlbc.passes.propose_loops import RefusedLoop

_STACK_BYTES = 512 * 1024 * 1024
_RECURSION_LIMIT = 100_000
_T = TypeVar("_T")

#: Modules lie where the place of the program says.
_BESIDE = SearchPath()


@dataclass(frozen=True, slots=True)
class TransformResult:
    """``text`` is the program to write, None if there are errors.

    ``parallel`` is false if the program has no annotation, and ``text`` is then the source itself.
    ``reports`` has one entry for each parallel loop, ``routines`` one for each outermost loop annotated
    `iterate` that keeps arrays on the ranks.
    """

    text: bytes | None
    diagnostics: tuple[Diagnostic, ...]
    parallel: bool = False
    reports: tuple[LoopReport, ...] = ()
    routines: tuple[RoutinePlan, ...] = ()


def transform(
    source: Source,
    *,
    strict: bool = False,
    imported: bool = False,
    starts: bool = False,
    origin: str = "",
    search: SearchPath = _BESIDE,
) -> TransformResult:
    """The parallel program of a source read without errors.

    ``strict`` refuses what rests on trust; ``imported``: programs import the file; ``starts``: it is a
    program that imports files with annotated loops. ``origin`` is its path from where the output is to be, if
    that is not beside it. ``search`` is where modules of the program lie besides.
    """

    def as_seen(module: Module) -> Module:
        return replace(module, imported=imported, starts=starts, origin=origin)

    return _with_deep_stack(lambda: _guarded(source, ReportDetail.PLANS, strict, as_seen, search))


def check(source: Source, *, strict: bool = False) -> tuple[Diagnostic, ...]:
    """The diagnostics of a source alone."""
    return prove(source, strict=strict).diagnostics


def prove(source: Source, *, strict: bool = False, search: SearchPath = _BESIDE) -> TransformResult:
    """The diagnostics of a source and the verdicts on its loops; no program is generated."""
    return _with_deep_stack(lambda: _guarded(source, ReportDetail.PROOFS, strict, search=search))


def explain(source: Source, *, strict: bool = False, search: SearchPath = _BESIDE) -> TransformResult:
    """The diagnostics of a source and the reports of its loops, with costs; no program is generated."""
    return _with_deep_stack(lambda: _guarded(source, ReportDetail.COSTS, strict, search=search))


@dataclass(frozen=True, slots=True)
class ProposalResult:
    """The loops of a source that need no more than an annotation, and those that something is in the way of.

    ``diagnostics``: why nothing can be proposed; its annotations, if it has any, are not right.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    proposed: tuple[LoopReport, ...] = ()
    refused: tuple[RefusedLoop, ...] = ()


def propose(source: Source, *, search: SearchPath = _BESIDE) -> ProposalResult:
    """The loops without an annotation that are proved to be parallel; no program is generated."""

    def work() -> ProposalResult:
        found = _bounded(source, lambda module: _proposals(module, search), lambda module: module)
        return ProposalResult((found,)) if isinstance(found, Diagnostic) else found

    return _with_deep_stack(work)


def _proposals(module: Module, search: SearchPath) -> ProposalResult:
    from dlbc.emit.seal import is_generated
    from dlbc.passes.propose_loops import propose_loops

    if is_generated(module.source.data):
        return ProposalResult((report("DLB007", WHOLE_FILE),))
    _, _, diagnostics = find_loops(module)
    unwritable = check_literals(module)
    problems = in_order((*diagnostics, *check_program(module), *([] if unwritable is None else [unwritable])))
    if has_errors(problems):
        return ProposalResult(problems)
    find, surveyed = ModuleFinder(module.source, search).find, _surveyed(search)
    proposed, refused = propose_loops(module, find_candidates(module), find, surveyed)
    return ProposalResult((), proposed, refused)


def _guarded(
    source: Source,
    wanted: ReportDetail,
    strict: bool,
    as_seen: Callable[[Module], Module] = lambda module: module,
    search: SearchPath = _BESIDE,
) -> TransformResult:
    """Run the stages; whatever a broken input does to one, the result is a diagnostic, never a traceback."""
    found = _bounded(source, lambda module: _stages(module, wanted, strict, search), as_seen)
    return TransformResult(None, (found,)) if isinstance(found, Diagnostic) else found


def _bounded(
    source: Source, work: Callable[[Module], _T], as_seen: Callable[[Module], Module]
) -> _T | Diagnostic:
    """What ``work`` makes of the parsed source; or a diagnostic, whatever a broken input does to it."""
    module = parse_module(source)
    if isinstance(module, Diagnostic):
        return module
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    gc.disable()  # trees and facts live until the end, so a collection would find no garbage among them
    try:
        return work(as_seen(module))
    except (RecursionError, MemoryError):
        return report("DLB005", WHOLE_FILE)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return report("DLB008", WHOLE_FILE, reason=reason)
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()


def _stages(module: Module, wanted: ReportDetail, strict: bool, search: SearchPath) -> TransformResult:
    from dlbc.emit.seal import is_generated
    from dlbc.passes.check_form import check_strict
    from dlbc.passes.check_quoted_loops import check_quoted_loops
    from dlbc.passes.plan_loops import report_loops
    from dlbc.passes.plan_routines import plan_routines
    from dlbc.passes.survey_program import survey_module

    if is_generated(module.source.data):
        return TransformResult(None, (report("DLB007", WHOLE_FILE),))
    loops, annotated, diagnostics = find_loops(module)
    quoted = check_quoted_loops(module, lambda file: _beside(module.source, file))
    diagnostics = (*diagnostics, *quoted)
    if not annotated and has_errors(diagnostics):
        return TransformResult(None, in_order(diagnostics))
    if not annotated and module.starts:
        return _emit(module, [], (), diagnostics)
    if not annotated:
        remark = () if module.imported else (report("DLB006", WHOLE_FILE),)
        return TransformResult(module.source.data, (*diagnostics, *remark))
    if (unwritable := check_literals(module)) is not None:
        return TransformResult(None, in_order((*diagnostics, unwritable)))
    survey = survey_module(module)
    find = ModuleFinder(module.source, search).find
    reports = tuple(report_loops(module, loops, wanted, survey, find, _surveyed(search)))
    if strict:
        reports = tuple(replace(r, findings=check_strict(r)) for r in reports)
    annotated_routines, misplaced = find_routines(module, loops)
    plans = [r.plan for r in reports if r.plan is not None]
    routines: tuple[RoutinePlan, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()
    if len(plans) == len(reports):
        routines, remarks = plan_routines(module, annotated_routines, plans, *survey)
    of_loops = (d for r in reports for d in r.findings)
    found = in_order((*diagnostics, *check_program(module), *of_loops, *misplaced, *remarks))
    if has_errors(found) or wanted is not ReportDetail.PLANS:
        return TransformResult(None, found, reports=reports, routines=routines)
    if not plans:
        return TransformResult(module.source.data, found)
    return _emit(module, plans, routines, found)


def _surveyed(search: SearchPath) -> dict[str, ProgramModule] | None:
    return None if search.store is None else search.store.surveyed


def _beside(source: Source, file: str) -> str | None:
    """The text of a source file that a program names, from the current directory or from its own."""
    from dlbc.emit.seal import is_generated

    for path in (Path(file), Path(source.path).parent / file):
        found, problems = read_source(str(path))
        if not problems and not is_generated(found.data):
            return found.text
    return None


def _emit(
    module: Module, plans: list[LoopPlan], routines: tuple[RoutinePlan, ...], found: tuple[Diagnostic, ...]
) -> TransformResult:
    from dlbc.emit.emit_program import LossyTextError, emit_program

    try:
        return TransformResult(emit_program(module, plans, routines), found, parallel=True)
    except LossyTextError as error:
        end = len(module.source.line(error.line)) + 1
        place = SourcePlace(error.line, 1, error.line, end)
        return TransformResult(None, (*found, report("DLB009", place)))


def _with_deep_stack(work: Callable[[], _T]) -> _T:
    """Do ``work`` on a stack large enough for deeply nested programs; only the pages used cost memory."""
    results: list[_T] = []
    previous = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=lambda: results.append(work()), name="dlbc", daemon=True)
        thread.start()
    finally:
        threading.stack_size(previous)
    thread.join()
    return results[0]
