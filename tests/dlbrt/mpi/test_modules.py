"""The data of the program's own modules follows rank 0's."""

from __future__ import annotations

import sys
import threading
import types
from pathlib import Path

import pytest
from dlbrt.mpi.values import program_modules as modules


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_helper.py").write_text("scale = 1\ntable = {}\ndef f(x):\n    return x * scale\n")
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "__init__.py").write_text("level = 1\n")
    main = types.ModuleType("__main__")
    main.__file__ = str(tmp_path / "program.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_helper", "own_package"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    modules._own_names.cache_clear()
    return tmp_path


def test_changed_data_of_modules_beside_the_program_arrives(home: Path) -> None:
    import own_helper  # type: ignore[import-not-found]
    import own_package  # type: ignore[import-not-found]

    own_helper.scale, own_package.level = 5, 7
    own_helper.lock = threading.Lock()
    data = modules.collect()
    assert data["own_helper"] == {"scale": 5, "table": {}}
    assert data["own_package"]["level"] == 7
    del sys.modules["own_helper"]
    modules.apply(data)
    assert sys.modules["own_helper"].f(2) == 10


def test_a_library_of_c_is_left_to_the_module_that_loads_it(home: Path) -> None:
    (home / "own_native.py").write_text("import ctypes\nlibrary, level = ctypes.CDLL(None), 1\n")
    import own_native  # type: ignore[import-not-found]

    assert modules.collect()["own_native"] == {"level": own_native.level}


def test_installed_modules_are_left_alone(home: Path) -> None:
    assert not {"numpy", "json", "dlbrt", "pytest"} & modules.collect().keys()
