"""Survey a module of the program: what its names mean, what it binds, and what its functions do.

The passes over each loop share these facts. Other modules of the program are surveyed when a call leads
there.
"""

from __future__ import annotations

from dataclasses import replace

from dlbc.analysis.call_targets import FindModule, Program, ProgramModule, module_name
from dlbc.analysis.effects import FunctionSummaries
from dlbc.ir.loop import Module
from dlbc.ir.region import ModuleNames
from dlbc.passes.find_containers import find_iterators, find_lists
from dlbc.passes.find_implicit_calls import find_implicit_calls
from dlbc.passes.resolve_names import resolve_module
from dlbc.passes.summarize_functions import summarize_functions


def survey_module(module: Module) -> tuple[ModuleNames, FunctionSummaries]:
    """The facts about the whole module that the passes over each loop share."""
    module_names = resolve_module(module)
    iterators, growing = find_iterators(module.tree, module_names)
    lists, plain = find_lists(module.tree)
    module_names = replace(module_names, object_containers=lists, scalar_containers=plain)
    module_names = replace(
        module_names,
        implicit_calls=find_implicit_calls(module.tree, module_names),
        iterators=iterators,
        growing_dicts=growing,
    )
    return module_names, summarize_functions(module_names)


def read_program(
    module: Module,
    survey: tuple[ModuleNames, FunctionSummaries],
    find: FindModule | None,
    surveyed: dict[str, ProgramModule] | None = None,
) -> Program:
    """The program that a file begins; its other modules are surveyed when a call leads there.

    ``surveyed`` has those that were before, by their paths, and gets the others.
    """
    surveyed = {} if surveyed is None else surveyed

    def load(name: str, importer: ProgramModule) -> tuple[ProgramModule, str] | None:
        found = None if find is None else find(name, importer.module.source)
        if found is None:
            return None
        path = found[0].source.path
        if path not in surveyed:
            surveyed[path] = ProgramModule(module_name(path), found[0], *survey_module(found[0]))
        return surveyed[path], found[1]

    return Program(ProgramModule("", module, *survey), load)
