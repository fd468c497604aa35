"""Contents of slots: what rank 0 sends to all ranks, and what the workers keep between calls.

Within a host data that every rank holds whole is sent anew with each call, since a copy takes a quarter of
the time of a digest. Other hosts are not sent it again while it is unchanged: the second time that rank 0
sends an array it remembers a digest, and the workers keep the memory as long as the array lives at rank 0.
Small arrays are part of the message.

Law of `SentArrays`: it holds no reference to an array of the program, not even a weak one, with which numpy
refuses to resize the array (`PyArray_Resize` asks for the list of weak references). An array is known by its
identity and layout; another array that has taken over both must agree in its elements as well, by their
digest.

That an array is gone shows in its memory: the process has it no more (`mincore`), which is so at once for
what the C library maps by itself, everything from 32 MiB on; or another array that owns its memory lies there
now. Any other array that is not sent for some calls is given up, small ones sooner where there are many: if
it still exists after all, it is sent once more.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.lib.array_utils import byte_bounds

from dlbrt.data.field import Field
from dlbrt.data.memory import Array, Layout, ReusedMemory, layout_of, prefer_large_pages
from dlbrt.mpi.call import Content, SlotHeader
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.values.host_copies import HostCopies, is_shared
from dlbrt.records import dataclass

#: Arrays up to this size are part of the call's message.
_INLINE_BYTES = 4096
#: Calls after which an array that came with none of them is taken to be gone.
_MAX_UNUSED_CALLS = 64
#: How many bytes the workers keep, at most, of smaller arrays that did not come with the last call.
_IDLE_BYTES = 256 << 20
#: Blocks of this size and above are mapped by themselves (`DEFAULT_MMAP_THRESHOLD_MAX` of the C library).
_MAPPED_ALONE = 32 << 20

#: Messages under way, each with the memory that it is sent from.
Sending = list[tuple["MPI.Request", Array]]


@dataclass(frozen=True, slots=True)
class _Kept:
    token: int
    layout: Layout
    digest: bytes
    bounds: tuple[int, int]
    owns: bool
    seen: int


class SentArrays:
    """Rank 0's table of the arrays that all workers have: by identity, the one used last at the end."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._calls = 0

    def token(self, value: Array, layout: Layout, digest: bytes) -> int | None:
        """The token of an array whose elements the workers have, else None."""
        kept = self._kept.get(id(value))
        if kept is None or (kept.layout, kept.digest) != (layout, digest):
            return None
        del self._kept[id(value)]
        self._kept[id(value)] = replace(kept, seen=self._calls, bounds=byte_bounds(value))
        return kept.token

    def knows(self, value: Array) -> bool:
        """Whether something is kept under the identity of the array."""
        return id(value) in self._kept

    def remember(self, value: Array, token: int, layout: Layout, digest: bytes) -> Iterator[int]:
        """The workers now have the array; returns the tokens of the arrays that it has replaced."""
        bounds, owns = byte_bounds(value), value.base is None
        replaced = [
            key for key, kept in self._kept.items() if key == id(value) or _is_over(kept, bounds, owns)
        ]
        yield from [self._kept.pop(key).token for key in replaced]
        self._kept[id(value)] = _Kept(token, layout, digest, bounds, owns, self._calls)

    def forget(self) -> Iterator[int]:
        """A call begins: the tokens of arrays that are gone, or have not been sent for a long time."""
        idle = 0
        for key, kept in reversed(list(self._kept.items())):
            if kept.seen == self._calls:
                continue
            small = kept.layout.extent < _MAPPED_ALONE
            idle += kept.layout.extent if small else 0
            late = kept.seen + _MAX_UNUSED_CALLS < self._calls or (small and idle > _IDLE_BYTES)
            if late or not _is_mapped(kept.bounds):
                yield self._kept.pop(key).token
        self._calls += 1


def _is_over(kept: _Kept, bounds: tuple[int, int], owns: bool) -> bool:
    """Whether the memory of a kept array is another's now: arrays that own their memory do not overlap."""
    return owns and kept.owns and bounds[0] < kept.bounds[1] and kept.bounds[0] < bounds[1]


def _is_mapped(bounds: tuple[int, int]) -> bool:
    """Whether the process has memory at the first whole page of ``bounds``; True where it cannot be asked."""
    page = -(-bounds[0] // mmap.PAGESIZE) * mmap.PAGESIZE
    if page + mmap.PAGESIZE > bounds[1]:
        return True
    try:
        ask = ctypes.CDLL(None, use_errno=True).mincore
    except (AttributeError, OSError):
        return True
    state = (ctypes.c_ubyte * 1)()
    return bool(ask(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), state) == 0)


def shared_fields(fields: list[Field], slots: list[Any], headers: tuple[SlotHeader, ...]) -> list[Field]:
    """The fields as they are sent: one whose contents are sent whole anyway is not sent by rows as well."""
    by_rows = {
        id(value)
        for value, header in zip(slots, headers, strict=True)
        if header.content in (Content.ROWS, Content.LIST, Content.RESIDENT)
    }
    return [field if id(field.data) in by_rows else field.whole() for field in fields]


def resident_ids(slots: Sequence[Any], headers: Sequence[SlotHeader]) -> set[int]:
    """Identities of the arrays in slots that stay on the ranks."""
    pairs = zip(slots, headers, strict=True)
    return {id(value) for value, header in pairs if header.content is Content.RESIDENT}


class SlotPublisher:
    """Rank 0's side: describes slots, broadcasts contents, remembers what the workers hold."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self.tokens = itertools.count(1)  # names of memory that workers keep
        self._sent_arrays = SentArrays()
        self._dropped: list[int] = []
        self._digests: dict[int, bytes] = {}  # by token, of what is about to be sent
        self._host_copies: HostCopies | None = None
        self.bytes_sent = 0

    def describe(
        self,
        slots: Sequence[Any],
        by_rows: Set[int],
        stored: Set[int],
        residents: Mapping[int, int] | None = None,
    ) -> tuple[SlotHeader, ...]:
        """A header for each slot; ``by_rows`` and ``stored`` are identities of slot objects.

        ``residents`` are the tokens of arrays that stay on the ranks, by identity.
        """
        tokens = residents or {}
        return tuple(
            SlotHeader(Content.RESIDENT, layout_of(value), token=tokens[id(value)])
            if id(value) in tokens
            else self._header(value, id(value) in by_rows, id(value) in stored)
            for value in slots
        )

    def drop(self, token: int) -> None:
        """Let the workers forget, at the next call, what they keep under a token."""
        self._dropped.append(token)

    def dropped(self) -> tuple[int, ...]:
        """Tokens whose arrays are gone since the last call; the workers may forget them."""
        dropped, self._dropped = (*self._dropped, *self._sent_arrays.forget()), []
        return dropped

    def broadcast(self, slots: Sequence[Any], headers: Sequence[SlotHeader]) -> Sending:
        """Send the contents of the slots that are sent whole, and note what was sent.

        What no iteration changes may still be on its way: its requests are returned, with its memory.
        """
        pending, sending = Sending(), Sending()
        for value, header in zip(slots, headers, strict=True):
            if header.content is Content.WHOLE and value.size:
                assert header.layout is not None
                memory = _packed(value)
                if _is_shared(self._communicator, header):
                    self._host_copies = self._host_copies or HostCopies(self._communicator)
                    request, copies = self._host_copies.broadcast(memory), self._host_copies.copies
                else:
                    request = self._communicator.broadcast_memory(memory)
                    copies = self._communicator.ranks - 1
                # To several ranks what rank 0 sends arrives only if it goes on sending.
                (sending if header.constant and copies == 1 else pending).append((request, memory))
                self.bytes_sent += memory.nbytes * copies
                if header.token:
                    digest = self._digests.pop(header.token, b"")
                    known = value, header.token, header.layout, digest
                    self._dropped += self._sent_arrays.remember(*known)
        self._communicator.complete([request for request, _ in pending])
        return sending

    def _header(self, value: Any, by_rows: bool, stored: bool) -> SlotHeader:
        if isinstance(value, list):
            return SlotHeader(Content.LIST, length=len(value))
        layout = layout_of(value)
        if by_rows:
            return SlotHeader(Content.ROWS, layout)
        if value.nbytes <= _INLINE_BYTES:
            return SlotHeader(Content.INLINE, layout, data=value.tobytes())
        if stored or type(value) is not np.ndarray:
            return SlotHeader(Content.WHOLE, layout)
        return self._kept(value, layout)

    def _kept(self, value: Array, layout: Layout) -> SlotHeader:
        if self._communicator.on_one_host and not _has_host_copy(self._communicator, layout):
            return SlotHeader(Content.WHOLE, layout, constant=True)
        digest = _digest(_packed(value)) if self._sent_arrays.knows(value) else b""
        token = self._sent_arrays.token(value, layout, digest) if digest else None
        if token is not None:
            return SlotHeader(Content.KEPT, layout, token=token)
        token = next(self.tokens)
        self._digests[token] = digest
        return SlotHeader(Content.WHOLE, layout, token=token, constant=True)


class SlotCache:
    """A worker's side: makes the objects of the slots, and keeps those that have a token.

    ``made`` are the tokens of arrays that stay on the ranks and that were made for the last call.
    """

    def __init__(self, communicator: Communicator) -> None:
        self.made: list[int] = []
        self._communicator = communicator
        self._kept: dict[int, Array] = {}
        self._memory = ReusedMemory()
        self._host_copies: HostCopies | None = None

    def forget(self, tokens: Sequence[int]) -> None:
        """Forget kept arrays."""
        for token in tokens:
            self._kept.pop(token, None)

    def kept(self, token: int) -> Array:
        """The array kept under a token."""
        return self._kept[token]

    def fill(self, headers: Sequence[SlotHeader]) -> list[Any]:
        """The objects of the slots, in order; those sent by rows are not filled yet."""
        slots: list[Any] = []
        self.made = []
        landing: list[tuple[Array, Array]] = []
        pending: list[MPI.Request] = []
        for header in headers:
            if _is_shared(self._communicator, header):
                slots.append(self._common_to_host(header))
                continue
            value = self._object(header)
            slots.append(value)
            if header.content is Content.WHOLE and value.size:
                memory = value if _dense(value) else np.empty(value.shape, value.dtype)
                prefer_large_pages(memory.ctypes.data, memory.nbytes)
                pending.append(self._communicator.broadcast_memory(_flat(memory)))
                landing.append((value, memory))
        self._communicator.complete(pending)
        for value, memory in landing:
            if memory is not value:
                value[...] = memory
        self._keep(headers, slots)
        self._memory.trim()
        return slots

    def _common_to_host(self, header: SlotHeader) -> Array:
        assert header.layout is not None
        self._host_copies = self._host_copies or HostCopies(self._communicator)
        return self._host_copies.receive(header.layout)

    def _object(self, header: SlotHeader) -> Any:
        if header.content is Content.LIST:
            return [None] * header.length
        if header.content is Content.KEPT:
            return self._kept[header.token]
        assert header.layout is not None
        if header.content is Content.RESIDENT:
            if header.token not in self._kept:
                self._kept[header.token] = self._memory.array(header.layout)
                self.made.append(header.token)
            return self._kept[header.token]
        value = self._memory.array(header.layout)
        if header.content is Content.INLINE:
            value[...] = np.frombuffer(header.data, header.layout.dtype).reshape(header.layout.shape)
        return value

    def _keep(self, headers: Sequence[SlotHeader], slots: Sequence[Any]) -> None:
        for header, value in zip(headers, slots, strict=True):
            if header.constant:
                value.flags.writeable = header.layout is not None and header.layout.writeable
                if header.token:
                    self._kept[header.token] = value


def _is_shared(communicator: Communicator, header: SlotHeader) -> bool:
    """Whether the workers of a host hold one copy of an array: it is sent whole, and does not change."""
    return header.constant and header.layout is not None and _has_host_copy(communicator, header.layout)


def _has_host_copy(communicator: Communicator, layout: Layout) -> bool:
    """The same of a layout; ranks that may die have copies of their own."""
    return not communicator.tolerates_deaths and is_shared(communicator.ranks, layout)


def _dense(array: Array) -> bool:
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def _flat(array: Array) -> Array:
    """A C-contiguous view of dense memory."""
    return array if array.flags.c_contiguous else array.T


def _packed(array: Array) -> Array:
    """The elements as one contiguous array: a view where the array is dense."""
    return _flat(array) if _dense(array) else np.ascontiguousarray(array)


def _digest(packed: Array) -> bytes:
    import hashlib  # loads a library of its own

    return hashlib.sha256(packed.reshape(-1).view(np.uint8).data).digest()
