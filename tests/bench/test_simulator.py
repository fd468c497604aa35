"""That the measure of the simulator runs; what it measures is no test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.simulator import STRATEGIES, main


def test_it_prints_a_line_a_loop_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "simulator.json"
    main(["--ranks", "4", "--iterations", "400", "--steps", "20000", "--json", str(path)])
    found = json.loads(path.read_text())
    assert len(found["loops"]) == 2 * len(STRATEGIES)
    assert all(loop["events"] > 0 and loop["makespan_s"] >= 1.0 for loop in found["loops"])
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(found["loops"])
