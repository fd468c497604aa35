"""Every driver carries out every action."""

from __future__ import annotations

from typing import get_args

import pytest
from dlbrt.core.actions import Action, Finish, methods_of
from dlbrt.sim.carriers import Carriers


class _Lacking(Carriers):
    _do_claim = property()
    _do_give = property()


def test_a_driver_has_a_method_for_each_action() -> None:
    found = methods_of(Carriers)
    assert set(found) == set(get_args(Action))
    assert found[Finish] is Carriers._do_finish


def test_a_driver_that_lacks_some_is_refused_with_their_names() -> None:
    lacking = _Lacking.__new__(_Lacking)
    with pytest.raises(TypeError, match=r"found no _do_give, _do_claim$"):
        methods_of(lacking)
