"""Captured standard output behaves as a text stream, and says of itself what rank 0's says."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from dlbrt.reductions.journal import Segment
from dlbrt.reductions.operations import FLUSH, RAW, WRITE
from dlbrt.reductions.output import Output, OutputProperties, output_properties
from dlbrt.reductions.replay import Replay


def test_what_print_and_the_methods_of_a_stream_write_is_logged_in_order() -> None:
    log: list[tuple[Any, ...]] = []
    stream = Output(log.append, io.StringIO(), OutputProperties("latin-1", "replace", True))
    print("a", 1, file=stream, flush=True)
    assert stream.write("bc") == 2
    stream.writelines(["d", "e"])
    assert stream.buffer.write(memoryview(b"\xff")) == 1
    stream.buffer.flush()
    assert "".join(entry[1] for entry in log if entry[0] == WRITE) == "a 1\nbcde"
    assert log[-1] == (RAW, b"\xff")
    assert (FLUSH,) in log
    assert (stream.encoding, stream.errors, stream.isatty(), stream.writable()) == (
        "latin-1",
        "replace",
        True,
        True,
    )


def test_bytes_and_text_are_replayed_in_the_order_in_which_they_were_written() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8")
    entries = [(WRITE, "a"), (RAW, b"b"), (WRITE, "c")]
    assert Replay({}, {}, stream).apply(Segment(np.array([0]), np.array([0]), entries)) is None
    stream.flush()
    assert written.getvalue() == b"abc"


def test_what_a_stream_refuses_is_refused() -> None:
    stream = Output([].append, io.StringIO(), output_properties())
    with pytest.raises(TypeError, match=r"write\(\) argument must be str, not bytes"):
        stream.write(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(io.UnsupportedOperation):
        stream.fileno()
    with pytest.raises(io.UnsupportedOperation):
        stream.read()
