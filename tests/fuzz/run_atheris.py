"""Fuzz the front end for as long as wanted, guided by coverage.

    python tests/fuzz/run_atheris.py [-max_total_time=SECONDS]

Needs `pip install atheris`, which is no dependency of the project. Each input is the seed of a broken real
program, or is decoded as text itself; arguments are libFuzzer's.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> None:
    """Run until an input breaks the promise of the front end."""
    import atheris

    with atheris.instrument_imports(include=["dlbc"]):
        from tests.proofs.broken_programs import broken
        from tests.proofs.test_front_end_fuzz import assert_accepted

    def one_input(data: bytes) -> None:
        seeded = len(data) >= 5 and data[0] % 2
        assert_accepted(
            broken(int.from_bytes(data[1:], "big")) if seeded else data[1:].decode("utf-8", "replace")
        )

    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
