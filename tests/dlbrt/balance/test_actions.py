"""Every driver carries out every action."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest
from dlbrt.balance.actions import Action, Finish, methods_of
from dlbrt.sim.action_executor import ActionExecutor

from tests.dlbrt.balance import clockwork


class _Lacking(ActionExecutor):
    _do_claim_chunks = property()
    _do_send_work = property()


def test_a_driver_has_a_method_for_each_action() -> None:
    found = methods_of(ActionExecutor)
    assert set(found) == set(get_args(Action))
    assert found[Finish] is ActionExecutor._do_finish


def test_a_driver_that_lacks_some_is_refused_with_their_names() -> None:
    lacking = _Lacking.__new__(_Lacking)
    with pytest.raises(TypeError, match=r"found no _do_send_work, _do_claim_chunks$"):
        methods_of(lacking)


def test_the_clockwork_has_a_case_for_each_action() -> None:
    tree = ast.parse(Path(clockwork.__file__).read_text())
    cases = {ast.unparse(node.cls) for node in ast.walk(tree) if isinstance(node, ast.MatchClass)}
    assert cases == {kind.__name__ for kind in get_args(Action)}
