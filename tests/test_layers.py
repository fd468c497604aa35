"""Who may import whom: the table of layers, held by walking every import, lazy and type-only ones included.

A unit is a module or package directly under `dlbc` or `dlbrt`. It may import itself and what stands in a
row below its own; units of one row do not know each other.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"dlbc": ROOT / "dlbc", "dlbrt": ROOT / "runtime" / "dlbrt"}

#: From the top down. `__init__` is the package's own file.
LAYERS: dict[str, tuple[frozenset[str], ...]] = {
    "dlbc": (
        frozenset({"__main__"}),
        frozenset({"cli", "notebook"}),
        frozenset({"commands"}),
        frozenset({"pipeline"}),
        frozenset({"parse", "passes", "emit"}),
        frozenset({"cost", "native", "routines"}),
        frozenset({"analysis"}),
        frozenset({"library"}),
        frozenset({"ir"}),
        frozenset({"algebra", "diagnostics"}),
        frozenset({"source"}),
        frozenset({"__init__"}),
    ),
    "dlbrt": (
        frozenset({"__init__"}),
        frozenset({"script"}),
        frozenset({"cell"}),
        frozenset({"import_hook"}),
        frozenset({"mpi", "sim"}),
        frozenset({"native"}),
        frozenset({"options", "observe"}),
        frozenset({"balance"}),
        frozenset({"predict"}),
        frozenset({"chunks", "diffusion"}),
        frozenset({"speed"}),
        frozenset({"partition", "emulation", "reductions"}),
        frozenset({"data"}),
        frozenset({"parameters"}),
        frozenset({"contract", "exactness", "records", "standard_library"}),
        frozenset({"visible_effects", "watchdog", "whole_files"}),
    ),
}

#: The commands of dlbc from the top down: a command may use those in rows below its own.
COMMAND_ROWS = (
    frozenset({"annotate", "doctor"}),
    frozenset({"calibrate", "report", "rules", "simulate", "verify"}),
    frozenset({"check", "completion", "explain", "run", "transform", "witness"}),
    frozenset({"program"}),
    frozenset({"compile_program"}),
    frozenset({"kept_programs"}),
    frozenset({"common"}),
    frozenset({"defaults", "examples", "files", "launchers", "pages", "supervise", "verdicts"}),
    frozenset({"segments"}),
)

#: All that one package may import of the other.
BRIDGES = {
    "dlbc": frozenset(
        {"dlbrt.contract", "dlbrt.exactness", "dlbrt.records", "dlbrt.visible_effects", "dlbrt.whole_files"}
    ),
    "dlbrt": frozenset[str](),
}

#: The runtime's rooms without input and output.
PURE = tuple(
    f"dlbrt.{room}"
    for room in (
        "balance",
        "predict",
        "chunks",
        "diffusion",
        "speed",
        "partition",
        "emulation",
        "data",
        "parameters",
    )
)

#: Commands that stand above both, and what each may import of the runtime besides: `explain` the pure parts
#: alone, to say what a distribution will cost.
COMMANDS = {
    "dlbc.commands.calibrate": (
        "dlbrt.observe.measurements",
        "dlbrt.observe.networks",
        "dlbrt.predict.network",
    ),
    "dlbc.commands.annotate": PURE,
    "dlbc.commands.doctor": ("dlbrt.observe.networks",),
    "dlbc.commands.explain": PURE,
    "dlbc.commands.kept_programs": ("dlbrt.observe.files",),
    "dlbc.commands.run": ("dlbrt.options", "dlbrt.script"),
    "dlbc.commands.report": (*PURE, "dlbrt.observe", "dlbrt.sim"),
    "dlbc.commands.verify": ("dlbrt.mpi.root.left_open", "dlbrt.script"),
    "dlbc.notebook": ("dlbrt.cell",),
    "dlbc.commands.simulate": (*PURE, "dlbrt.observe", "dlbrt.sim"),
}

#: What a generated program must run without.
COMPILER_ONLY = frozenset({"dlbc", "libcst", "jinja2", "islpy", "z3", "scipy"})

#: What stands beside the product and may import it: `samples/papers`, and the tests.
BESIDE = frozenset({"papers", "tests"})

#: The only package that speaks MPI.
MPI_PACKAGE = "dlbrt.mpi"

#: What calls the passes: over a module, and over a loop, whose results it assembles.
ASSEMBLERS = frozenset({"dlbc.passes.plan_loops", "dlbc.passes.propose_loops", "dlbc.passes.survey_program"})


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the full names of the importing module and of what it imports, and its place."""

    module: str
    target: str
    place: str


Rule = Callable[[Import], bool]


def modules(files: dict[str, Path]) -> dict[str, Path]:
    """Full module name -> file, for every module under the packages."""
    found = {}
    for package, directory in files.items():
        for path in sorted(directory.rglob("*.py")):
            parts = (package, *path.relative_to(directory).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(known: dict[str, Path]) -> Iterator[Import]:
    """Every import of the modules ``known``."""
    for module, path in known.items():
        for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
            for target in targets(node, module, path, known):
                yield Import(module, target, f"{path}:{getattr(node, 'lineno', 0)}")


def targets(node: ast.AST, module: str, path: Path, known: dict[str, Path]) -> list[str]:
    """What a statement imports: of `from a import b` the module a.b where there is one, else a."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
    return [full if (full := f"{base}.{alias.name}") in known else base for alias in node.names]


def top(name: str) -> str:
    return name.split(".")[0]


def unit(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def row(name: str) -> int | None:
    """The row of a module's unit in the table of its package."""
    rows = LAYERS[top(name)]
    return next((number for number, units in enumerate(rows) if unit(name) in units), None)


def breaks_layers(found: Import) -> bool:
    if top(found.module) != top(found.target) or unit(found.module) == unit(found.target):
        return False
    importer, imported = row(found.module), row(found.target)
    return importer is None or imported is None or importer >= imported


def command(name: str) -> str | None:
    """The command to which a module belongs; None elsewhere."""
    inner = name.removeprefix("dlbc.commands.")
    return None if inner == name else inner.split(".")[0]


def breaks_commands(found: Import) -> bool:
    used = [command(found.module), command(found.target)]
    if None in used or used[0] == used[1]:
        return False
    importer, imported = ([name in row for row in COMMAND_ROWS].index(True) for name in used)
    return importer >= imported


def breaks_bridge(found: Import) -> bool:
    across = top(found.target) in PACKAGES and top(found.module) != top(found.target)
    return across and found.target not in BRIDGES[top(found.module)] and not is_command(found)


def is_command(found: Import) -> bool:
    """Whether a command imports what it may of the runtime, packages with all that is in them."""
    return any(
        f"{found.module}.".startswith(f"{command}.") and f"{found.target}.".startswith(f"{part}.")
        for command, parts in COMMANDS.items()
        for part in parts
    )


def breaks_independence_of_the_compiler(found: Import) -> bool:
    return top(found.module) == "dlbrt" and top(found.target) in COMPILER_ONLY


def breaks_mpi_confinement(found: Import) -> bool:
    return top(found.target) == "mpi4py" and not f"{found.module}.".startswith(f"{MPI_PACKAGE}.")


def breaks_independence_of_passes(found: Import) -> bool:
    passes = "dlbc.passes."
    both = found.module.startswith(passes) and found.target.startswith(passes)
    return both and found.module not in ASSEMBLERS and found.module != found.target


def breaks_independence_of_papers_and_tests(found: Import) -> bool:
    return top(found.target) in BESIDE


RULES: tuple[Rule, ...] = (
    breaks_independence_of_papers_and_tests,
    breaks_layers,
    breaks_commands,
    breaks_bridge,
    breaks_independence_of_the_compiler,
    breaks_mpi_confinement,
    breaks_independence_of_passes,
)


@pytest.fixture(scope="module")
def all_imports() -> list[Import]:
    return list(imports(modules(PACKAGES)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.replace("_", " "))
def test_no_import(rule: Rule, all_imports: list[Import]) -> None:
    broken = [f"{i.place}: {i.module} imports {i.target}" for i in all_imports if rule(i)]
    assert not broken, "\n" + "\n".join(dict.fromkeys(broken))


def test_every_unit_stands_in_the_table() -> None:
    unknown = [f"{path}: no row for {name}" for name, path in modules(PACKAGES).items() if row(name) is None]
    assert not unknown, "add them to LAYERS:\n" + "\n".join(unknown)


FORBIDDEN = [
    ("dlbc/source.py", "import dlbc.ir.loop", breaks_layers),
    ("dlbc/parse/grammar.py", "def f():\n    from dlbc.emit import text", breaks_layers),
    ("dlbc/passes/infer_cost.py", "from dlbc import cli", breaks_layers),
    ("dlbc/ir/plan.py", "from dlbc.analysis import uses", breaks_layers),
    ("dlbc/pipeline.py", "from dlbrt.data import spans", breaks_bridge),
    ("dlbc/commands/calibrate.py", "from dlbrt.balance import events", breaks_bridge),
    ("dlbc/commands/explain/ranks.py", "from dlbrt.observe import measurements", breaks_bridge),
    ("dlbc/commands/run.py", "from dlbc.commands.calibrate import run", breaks_commands),
    ("dlbrt/data/layout.py", "from ..balance import events", breaks_layers),
    ("dlbrt/predict/choose.py", "from dlbrt.balance.events import Event", breaks_layers),
    ("dlbrt/partition/work.py", "from dlbrt.speed import points", breaks_layers),
    ("dlbrt/chunks/rule.py", "from dlbrt.predict import choose", breaks_layers),
    ("dlbrt/parameters.py", "from dlbrt.partition import work", breaks_layers),
    ("dlbrt/balance/cost.py", "import scipy.optimize", breaks_independence_of_the_compiler),
    ("dlbrt/mpi/team.py", "from dlbc import source", breaks_independence_of_the_compiler),
    ("dlbrt/session.py", "from mpi4py import MPI", breaks_mpi_confinement),
    ("dlbrt/balance/cost.py", "from papers.heirich import Mesh", breaks_independence_of_papers_and_tests),
    (
        "dlbc/passes/infer_cost.py",
        "from dlbc.passes.find_accesses import find",
        breaks_independence_of_passes,
    ),
]


@pytest.mark.parametrize(("file", "text", "rule"), FORBIDDEN, ids=[f"{f}: {t}" for f, t, _ in FORBIDDEN])
def test_the_rules_see(file: str, text: str, rule: Rule, tmp_path: Path) -> None:
    others = dict.fromkeys(("dlbc/cli.py", "dlbc/emit/text.py", "dlbrt/balance/events.py"), "")
    everything = others | {file: text}
    for path, content in everything.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    found = list(imports(modules({package: tmp_path / package for package in PACKAGES})))
    assert [i.place.rpartition(":")[0] for i in found if rule(i)] == [str(tmp_path / file)]


def test_a_pass_may_be_assembled_and_mpi_may_import_mpi4py() -> None:
    allowed = [
        Import(min(ASSEMBLERS), "dlbc.passes.infer_cost", ""),
        Import("dlbrt.mpi.team", "mpi4py.MPI", ""),
        Import("dlbc.parse.grammar", "dlbrt.contract", ""),
        Import("dlbc.emit.text", "dlbc", ""),
        Import("dlbc.commands.calibrate", "dlbrt.observe.measurements", ""),
        Import("dlbc.commands.explain.ranks", "dlbrt.partition.initial", ""),
    ]
    assert not [i for i in allowed for rule in RULES if rule(i)]


def test_importing_the_runtime_loads_neither_the_compiler_nor_mpi() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import dlbrt"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "dlbrt" in loaded
    assert not {top(name) for name in loaded} & (COMPILER_ONLY | {"mpi4py"})
