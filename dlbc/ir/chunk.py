"""The chunk functions of a `jit` loop, as they are emitted."""

from __future__ import annotations

from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """What compiled iterations leave for Python, one number each.

    ``sources``: the arguments any of which, if it is numpy's, makes it a number of numpy. Where these differ
    between iterations, ``origin`` is the number of the column that holds them, as bits. ``hidden``: the
    runtime alone looks at it.
    """

    name: str
    sources: tuple[str, ...] = ()
    origin: int | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class ChunkForm:
    """One order of a chunk function's loops.

    ``text``: the function, named by `CHUNK`; ``what``: what was done to the loops, one sentence each.
    ``floats``: arrays that must hold 64-bit floats for its bits; ``strip``: how many consecutive
    iterations it takes at once, where these are several.
    """

    text: str
    what: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    strip: int = 1


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """How the iterations of a loop are compiled.

    ``forms``: the best one first, and the last one is as the user wrote it. ``parameters`` of the functions,
    with the expressions that the kernel passes. ``fits``: the conditions, over ``bounds`` (the least and
    greatest index of a chunk) and the parameters, under which all subscripts are in range. ``columns``
    and ``effects``: what Python does with the results of iterations, as statements over the index and the
    columns. ``note_rows``: the same of notes, of which an iteration leaves any number; ``noted``: the columns
    that hold the number of an iteration's first note, each before that of the note after them, with the rows
    that Python looks at. ``axes``: how many each array has. ``stored``: parameters that are stored to;
    ``index_only``: whose elements are subscripts alone; ``arrays``: that must be arrays, ``integers``:
    lists of integers, ``floats``: of floats, ``python``: that must be numbers of Python, ``real``: that must
    not be complex. ``bits``: the most that the index and integer parameters may have. ``rows``: arrays that
    Python may have to put back where it fails at an effect, with the axis of the iteration's row.
    ``in_place``: an iteration that is done again would read what it has stored.
    ``origins``: what the bits of origins stand for. ``reasons``: why no better order was found.
    ``differing``: operations whose last bits may differ, and what was chosen instead. ``sequences``:
    parameters that hold what the loop runs over, each with its number among those of `zip`, if it is there.
    ``takes_items``: what Python does has the loop's items, in place of the index.
    """

    forms: tuple[ChunkForm, ...]
    parameters: tuple[tuple[str, str], ...]
    fits: tuple[str, ...] = ()
    bounds: tuple[str, str] = ("low", "high")
    columns: tuple[Column, ...] = ()
    note_rows: tuple[Column, ...] = ()
    noted: tuple[tuple[int, tuple[int, ...]], ...] = ()
    effects: tuple[str, ...] = ()
    axes: tuple[tuple[str, int], ...] = ()
    stored: tuple[str, ...] = ()
    index_only: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    bits: int = 62
    in_place: bool = False
    rows: tuple[tuple[str, int], ...] = ()
    origins: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    sequences: tuple[tuple[str, int | None], ...] = ()
    takes_items: bool = False


#: The names of a chunk function and of its condition, and of the runtime, until names are chosen.
CHUNK, FITS, RUNTIME = "_chunk_", "_fits_", "_dlbrt_"
