"""Arrays and lists that are gathered element by element: every rank gives back what it has changed.

Each field has one message from each rank to rank 0, places and values. Rank 0 puts them into its own data
once all have come, having made sure that no element was given two values.
"""

from __future__ import annotations

from collections.abc import Sequence

from mpi4py import MPI

from dlbrt.dist.field import Field
from dlbrt.dist.twin import Diff, DiffMerge, Twin
from dlbrt.mpi.objects import SharedObjects
from dlbrt.mpi.wire import DATA, Communicator

__all__ = ["ElementGather"]


class ElementGather:
    """The fields among ``fields`` that are gathered so, as they are before the loop."""

    def __init__(self, communicator: Communicator, fields: Sequence[Field], objects: SharedObjects) -> None:
        self._communicator = communicator
        self._objects = objects
        self._twins = [(field, Twin(field.data)) for field in fields if field.by_elements]
        self._claims = [DiffMerge(field.data) for field, _ in self._twins]
        self._received: list[tuple[Field, Diff]] = []
        self._requests: list[MPI.Request] = []
        self._held: list[bytes] = []

    def send(self) -> None:
        """Start sending what this rank has changed to rank 0."""
        for field, twin in self._twins:
            diff = twin.diff()
            if isinstance(field.data, list):
                packed = self._objects.dumps((diff.places, diff.values), back=True)
            else:
                packed = diff.encode()
            self._held.append(packed)
            self._requests.append(self._communicator.send_bytes(packed, 0, DATA))

    def sent(self) -> None:
        """Wait until what was sent has left."""
        self._communicator.complete(self._requests)

    def receive(self, rank: int) -> None:
        """Take in what a rank sends, without touching the data."""
        for (field, _), claims in zip(self._twins, self._claims, strict=True):
            message = self._communicator.wait_bytes(rank, DATA)[1]
            if isinstance(field.data, list):
                diff = Diff(*self._objects.loads(message))
            else:
                diff = Diff.decode(message, field.data)
            claims.add(rank, diff)
            self._received.append((field, diff))

    def put(self) -> str | None:
        """Put everything in its place; a sentence instead, if two ranks gave one element different values."""
        for (field, twin), claims in zip(self._twins, self._claims, strict=True):
            claims.add(0, twin.diff())
            if found := claims.conflict():
                place, ranks = found
                first, second = sorted(ranks)
                return f"ranks {first} and {second} gave different values to element {place} of {field.name}"
        for field, diff in self._received:
            diff.put(field.data)
        return None
