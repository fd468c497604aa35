"""What the passes over one parallel loop share."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbrt.records import dataclass

from dlbc.analysis.call_targets import Program, ProgramModule
from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.uses import Node
from dlbc.diagnostics.diagnostic import RelatedPlace
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.source import Source, SourcePlace


@dataclass(frozen=True)
class AnalysisContext:
    """A parallel loop with the meaning of its names, and the module and the program around it."""

    loop: AnnotatedLoop
    names: LoopNames
    module: ModuleNames
    summaries: FunctionSummaries
    source: Source
    program: Program | None = None

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the loop."""
        return self.loop.node.body

    @property
    def other_modules(self) -> Sequence[ProgramModule]:
        """The program's modules that the file imports, directly or through others."""
        return () if self.program is None else self.program.modules[1:]

    def place_of(self, node: Node) -> SourcePlace:
        """Where a node stands in the source."""
        return self.source.place_of(node)

    def note(self, node: Node, text: str) -> RelatedPlace:
        """A second place of a diagnostic."""
        return RelatedPlace(self.source.place_of(node), text)
