"""What is written past `sys.stdout` is found, whatever way it takes, and comes out in its order."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BEGIN = """
import ctypes, io, os, subprocess, sys
from dlbrt.mpi.output.standard_output import HELD_BACK, DivertedOutput, OutputProbe, WorkerOutput
from dlbrt.reductions.output import OutputProperties

real, say, c = sys.stdout, sys.stdout.write, ctypes.CDLL(None)
about = OutputProperties("utf-8", None, False)
print("begin", flush=True)
"""

PROBE = """
probe = OutputProbe()
print("printed", flush=True)
{}
print("and on", flush=True)
print(probe.close(), sys.stdout is real, flush=True)
os.write(1, b"as before\\n")
"""


def output_of(code: str) -> list[str]:
    """The lines that a process prints which runs the code, its streams buffered whatever the tester's are."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", BEGIN + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("os.write(1, b'past\\n')", id="descriptor"),
        pytest.param("subprocess.run(['echo', 'past'])", id="child process"),
        pytest.param("c.puts(b'past'); c.fflush(None)", id="C"),
        pytest.param("say('past\\n')", id="kept method"),
    ],
)
def test_what_goes_past_python_is_found_and_keeps_its_place(statement: str) -> None:
    expected = ["begin", "printed", "past", "and on", "True True", "as before"]
    assert output_of(PROBE.format(statement)) == expected


@pytest.mark.parametrize("statement", ["print('by print')", "real.write('by print\\n')"])
def test_what_goes_through_the_real_stream_is_none_of_it(statement: str) -> None:
    expected = ["begin", "printed", "by print", "and on", "False True", "as before"]
    assert output_of(PROBE.format(statement)) == expected


def test_what_c_holds_back_is_found_without_a_flush() -> None:
    lines = output_of(
        """
room = ctypes.create_string_buffer(4096)
c.setvbuf(ctypes.c_void_p.in_dll(c, "stdout"), room, 0, len(room))
output = DivertedOutput([].append, about, watched=True)
c.puts(b"later")
output.close()
print(output.bypassed == HELD_BACK, flush=True)
c.fflush(None)
"""
    )
    assert lines == ["begin", "True", "later"]


def test_output_that_is_not_watched_is_logged_alone() -> None:
    lines = output_of(
        """
log = []
output = DivertedOutput(log.append, about, watched=False)
print("logged")
print("logged too", file=real)
os.write(1, b"at once\\n")
output.close()
print(output.bypassed, "".join(entry[1] for entry in log), end="")
"""
    )
    assert lines == ["begin", "at once", "None logged", "logged too"]


def test_a_stream_that_iterations_put_in_place_stays() -> None:
    lines = output_of(
        """
output = DivertedOutput([].append, about, watched=False)
sys.stdout = own = io.StringIO()
output.close()
print(sys.stdout is own, file=sys.__stdout__)
"""
    )
    assert lines == ["begin", "True"]


def test_a_worker_shows_nothing_but_what_it_passes_on() -> None:
    lines = output_of(
        """
worker = WorkerOutput()
print("imported")
worker.begin()
os.write(1, b"past\\n")
print(worker.bypassed(), file=sys.stderr)
worker.pass_on(1)
worker.begin()
print(worker.bypassed(), file=sys.stderr)
print("afterwards", flush=True)
"""
    )
    assert lines == ["begin", "past"]
