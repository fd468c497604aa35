"""What stands for the value of a name that has none: any use fails as reading the name does."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from dlbrt.reductions.unbound import Unbound, as_in_program, is_unbound, value_or_unbound

LOCAL = "cannot access local variable 'value' where it is not associated with a value"


def unbound_local() -> Any:
    if not LOCAL:
        value = 1
    return value_or_unbound(lambda: value, unbound_local.__code__)


def unbound_global() -> Any:
    return value_or_unbound(lambda: missing, unbound_global.__code__)  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    "use",
    [
        lambda v: operator.iadd(v, 1),
        lambda v: 1 + v,
        lambda v: max(v, 3),
        lambda v: max(3, v),
        lambda v: v.append(1),
        lambda v: operator.setitem(v, 0, 1),
        lambda v: v[0],
        lambda v: v and 1,
    ],
)
def test_any_use_fails_as_reading_the_name(use: Callable[[Any], Any]) -> None:
    for value in (unbound_local(), pickle.loads(pickle.dumps(unbound_local()))):
        with pytest.raises(UnboundLocalError, match=LOCAL):
            use(value)


def test_a_name_with_a_value_is_its_value() -> None:
    value = [1]
    assert value_or_unbound(lambda: value, unbound_local.__code__) is value
    assert is_unbound(unbound_local())
    assert not is_unbound(value)


def test_what_a_kernel_raises_is_what_the_program_raises() -> None:
    of_module = unbound_global()
    raised = UnboundLocalError(LOCAL.replace("value'", "missing'"))
    raised.__context__ = KeyError()
    found = as_in_program(raised, [1, of_module])
    assert type(found) is NameError
    assert (str(found), found.name) == ("name 'missing' is not defined", "missing")
    assert found.__context__ is raised.__context__
    local = UnboundLocalError(LOCAL)
    assert as_in_program(local, [unbound_local(), of_module]) is local


def test_a_free_variable_of_the_program_is_one() -> None:
    message = "cannot access free variable 'value' where it is not associated with a value in enclosing scope"
    found = as_in_program(UnboundLocalError(LOCAL), [Unbound("value", NameError, message)])
    assert (type(found), str(found)) == (NameError, message)
