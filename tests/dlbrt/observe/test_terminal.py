"""Lines on standard error: each in one piece, whatever Python buffers, and all by one function."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from pathlib import Path

import dlbrt
import pytest

PROGRAM = """
from dlbrt.observe.terminal import write_line
write_line("dlb: one")
write_line("dlb: two\\ndlb: three")
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_line_and_its_end_are_written_together(unbuffered: str) -> None:
    """A launcher passes on what it reads: between two writes output of another descriptor may come."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with here, there:
        env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        subprocess.run([sys.executable, "-c", PROGRAM], stderr=there, env=env, check=True)
        here.setblocking(False)
        assert [here.recv(100) for _ in range(2)] == [b"dlb: one\n", b"dlb: two\ndlb: three\n"]
        with pytest.raises(BlockingIOError):
            here.recv(100)


def test_without_standard_error_nothing_is_written() -> None:
    program = f"import sys\nsys.stderr = None\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""


def test_the_runtime_prints_to_standard_error_by_it_alone() -> None:
    files = sorted(Path(dlbrt.__file__).parent.rglob("*.py"))
    printing = [
        f"{file}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and any(keyword.arg == "file" for keyword in node.keywords)
    ]
    assert files
    assert not printing
