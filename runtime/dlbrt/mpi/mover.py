"""Rows between ranks: scattered at the start, moved with work, gathered at the end.

Sender and receiver both know the array table and the iterations concerned, so both work out the same
rows, and messages carry contents alone: one message for each field and peer, straight from and into
array memory where the rows lie contiguously, packed where they do not. Lists travel as pickles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from dlbrt.dist.field import Field, landing, positions, put, put_element, take
from dlbrt.dist.footprint import Rows, count, union
from dlbrt.dist.memory import prefer_large_pages
from dlbrt.dist.spans import Spans
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.region import Region, region_of
from dlbrt.mpi.wire import DATA, Wire

__all__ = ["Mover"]

Which = Callable[[Field, Spans], Rows]


class Mover:
    """Sends and receives the rows of ``fields``; ``bytes_sent`` counts what this rank sent."""

    def __init__(self, wire: Wire, fields: Sequence[Field], objects: Objects) -> None:
        self._wire = wire
        self._fields = fields
        self._objects = objects
        self._held: list[Any] = []
        self._regions: list[Region] = []
        self._requests: list[MPI.Request] = []
        self._landed: list[tuple[Field, Rows, np.ndarray[Any, Any]]] = []
        self._elements: list[tuple[Field, int, Any]] = []
        self.bytes_sent = 0

    def prepare(self, spans: Spans) -> None:
        """Make ready the memory that iterations ``spans`` are going to fill."""
        for field in self._fields:
            if isinstance(field.data, list) or field.tables is not None:
                continue  # scattered rows are no one region
            if field.by_rows:
                self._prepare_rows(field, union(field.needed(spans), field.stored(spans)))

    def send(self, spans: Spans, target: int, which: Which) -> None:
        """Start sending the rows that ``which`` gives for the iterations."""
        for field in self._fields:
            if rows := which(field, spans):
                self._send_rows(field, rows, target)

    def receive(self, spans: Spans, source: int, which: Which) -> None:
        """Start receiving what `send` sends, called alike."""
        for field in self._fields:
            if rows := which(field, spans):
                self._receive_rows(field, rows, source)

    def complete(self) -> None:
        """Wait until everything started has arrived and lies in its place."""
        self._wire.complete(self._requests)
        for field, rows, packed in self._landed:
            put(field.data, field.axis, rows, packed)
        # Last: until all have come, what comes may refer to elements by the place they had.
        for field, row, element in self._elements:
            put_element(field, row, element)
        for region in self._regions:
            region.free()
        self._requests, self._held, self._landed, self._regions, self._elements = [], [], [], [], []

    def _send_rows(self, field: Field, rows: Rows, target: int) -> None:
        if isinstance(field.data, list):
            packed = self._objects.dumps([field.data[row] for row in positions(rows)], back=target == 0)
            self._requests.append(self._wire.send_bytes(packed, target, DATA))
            self.bytes_sent += len(packed)
            self._held.append(packed)
        elif region := region_of(field.data, field.axis, rows):
            self._regions.append(region)
            self._requests.append(self._wire.send_region(region, target, DATA))
            self.bytes_sent += count(rows) * field.data.nbytes // field.length
        else:
            array = take(field.data, field.axis, rows)
            self._held.append(array)
            self._requests.append(self._wire.send_memory(array, target, DATA))
            self.bytes_sent += array.nbytes

    def _prepare_rows(self, field: Field, rows: Rows) -> None:
        region = region_of(field.data, field.axis, rows)
        if region is not None:
            if region.datatype == MPI.BYTE:
                prefer_large_pages(region.address, region.extent)
            region.free()

    def _receive_rows(self, field: Field, rows: Rows, source: int) -> None:
        if isinstance(field.data, list):
            elements = self._objects.loads(self._wire.wait_bytes(source, DATA)[1])
            if self._wire.rank and not field.spec.in_place:
                self._objects.note(field, positions(rows), elements)
            self._elements += [(field, *item) for item in zip(positions(rows), elements, strict=True)]
            return
        if region := region_of(field.data, field.axis, rows):
            self._regions.append(region)
            self._requests.append(self._wire.receive_region(region, source, DATA))
            return
        memory = landing(field.data, field.axis, rows)
        self._requests.append(self._wire.receive_memory(memory, source, DATA))
        self._landed.append((field, rows, memory))
