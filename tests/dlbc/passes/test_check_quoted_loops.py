"""Annotated loops in texts: where they are run or handed on, and where they are only examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.pipeline import check
from dlbc.source import Source

LOOP = "# dlb: parallel\nfor i in range(8):\n    A[i] = i\n"
TEXT = f'TEXT = """\n{LOOP}"""\n'


def found(text: str, path: str = "program.py") -> list[tuple[str, int]]:
    """The codes and lines, without the remark that the program itself has no annotation."""
    diagnostics = check(Source(path, text.encode(), text))
    return [(d.code, d.place.line) for d in diagnostics if d.code != "DLB006"]


@pytest.mark.parametrize(
    "run",
    [
        "exec(TEXT)",
        "eval(compile(TEXT, 'x', 'exec'))",
        "code = compile(TEXT, 'x', 'exec'); exec(code)",
        "import timeit; timeit.timeit(TEXT)",
        "from timeit import Timer as T; T('pass', setup=TEXT)",
        "import textwrap; body = textwrap.dedent(TEXT); exec(body)",
        "body = 'A = []'; body += TEXT; exec(body)",
        "exec('x = 1\\n' + TEXT)",
        "exec(f'x = 1\\n{TEXT}')",
        "exec(TEXT.replace('8', '9'))",
        "exec(TEXT.encode())",
        "exec('\\n'.join(['# dlb: parallel', 'for i in []: pass']))",
        "exec('for i in []:  # dlb: parallel\\n    pass')",
        "exec(b'# dlb: parallel\\nfor i in []: pass')",
        "def f(): exec(TEXT)",
        "class C:\n    def f(self): exec(TEXT)",
    ],
)
def test_texts_that_are_run(run: str) -> None:
    text = TEXT + run
    assert found(text) == [("DLB503", text.count("\n") + 1)]


@pytest.mark.parametrize(
    "use",
    [
        "import subprocess, sys; subprocess.run([sys.executable, '-c', TEXT])",
        "import os; os.system('python -c ' + TEXT)",
        "file = open('x.py', 'w'); file.write(TEXT)",
        "from pathlib import Path; Path('x.py').write_text(TEXT)",
        "with open('x.py', 'w') as file: file.write(TEXT)",
    ],
)
def test_texts_that_are_handed_on(use: str) -> None:
    assert found(TEXT + use) == [("DLB504", 6)]


@pytest.mark.parametrize(
    "program",
    [
        TEXT,
        f'"""How to use it.\n\n{LOOP}"""\nexec("x = 1")',
        f'def f():\n    """{LOOP}"""\n    exec("x = 1")',
        f"{TEXT}print(TEXT)",
        f"{TEXT}import sys; sys.stdout.write(TEXT)",
        f"{TEXT}def run(TEXT):\n    exec(TEXT)",
        f"{TEXT}def exec(text):\n    return text\nexec(TEXT)",
        "exec('# dlb: parallel')",
        "exec('x = 1  # dlb: for all')",
        "exec('''print(\"# dlb: parallel\")\nfor i in []: pass''')",
    ],
)
def test_texts_that_are_only_examples(program: str) -> None:
    assert found(program) == []


def test_the_annotation_in_the_text_is_shown() -> None:
    text = f"{TEXT}exec(TEXT)"
    [error] = [d for d in check(Source("program.py", text.encode(), text)) if d.code == "DLB503"]
    assert [note.place.line for note in error.notes] == [2]


@pytest.mark.parametrize(
    "run",
    [
        "exec(open('part.py').read())",
        "exec(compile(open('part.py').read(), 'part.py', 'exec'))",
        "with open('part.py') as file: exec(file.read())",
        "from pathlib import Path; exec(Path('part.py').read_text())",
        "import runpy; runpy.run_path('part.py')",
        "import subprocess, sys; subprocess.run([sys.executable, 'part.py'], check=True)",
        "import os; os.system('python part.py 3')",
    ],
)
@pytest.mark.parametrize("annotated", [True, False])
def test_files_that_are_run_as_they_are(tmp_path: Path, run: str, annotated: bool) -> None:
    (tmp_path / "part.py").write_text(LOOP if annotated else "x = 1\n")
    assert found(run, str(tmp_path / "main.py")) == ([("DLB507", 1)] if annotated else [])


def test_files_that_dlbc_runs(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(LOOP)
    run = "import subprocess\nsubprocess.run(['dlbc', 'run', '-n', '2', 'part.py'])"
    assert found(run, str(tmp_path / "main.py")) == []
