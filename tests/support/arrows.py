"""The arrows of a trace's file: what is shown of work that goes from rank to rank."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["check_arrows"]


def check_arrows(text: str) -> int:
    """No arrow of the trace leads back in time, each end is in a slice of its rank; how many units go."""
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys()
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"]
        assert end["bp"] == "e"
        for side in (start, end):
            assert any(_within(side, each) for each in slices)
    return sum(start["args"]["units"] for start in starts.values())


def _within(event: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether an event lies in a slice, as a viewer goes by the numbers of the file: to a nanosecond."""
    place = event["pid"], event["tid"]
    stop = round(part["ts"] + part["dur"], 3)
    return place == (part["pid"], part["tid"]) and part["ts"] <= event["ts"] <= stop
