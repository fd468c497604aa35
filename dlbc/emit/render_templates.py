"""Print the templates; a name that a template uses and its context lacks is an error."""

from __future__ import annotations

import functools
from dataclasses import fields
from pathlib import Path

import jinja2

from dlbc.emit.contexts import CallContext, KernelContext, PrologueContext, RoutineContext

__all__ = ["render_call", "render_kernel", "render_prologue", "render_routine"]

_TEMPLATES = Path(__file__).parent.parent / "templates"


def render_prologue(context: PrologueContext) -> str:
    """The lines that start the runtime."""
    return _render("prologue.py.j2", context)


def render_kernel(context: KernelContext) -> str:
    """The kernel, with ``_`` for the targets and ``pass`` for the body."""
    return _render("kernel.py.j2", context)


def render_call(context: CallContext) -> str:
    """The statements in place of the loop, with ``_`` for the iterable and for the targets."""
    return _render("call.py.j2", context)


def render_routine(context: RoutineContext) -> str:
    """The block around a routine, with ``pass`` for its loop."""
    return _render("routine.py.j2", context)


def _render(name: str, context: PrologueContext | KernelContext | CallContext | RoutineContext) -> str:
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    return _environment().get_template(name).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
