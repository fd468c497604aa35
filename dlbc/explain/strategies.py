"""Each strategy in a sentence; `docs/strategies.md` says more of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["SUMMARIES"]

#: By the names of the contract, in its order, and those to compare with.
SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "auto": "the one that a model of its cost says is cheapest, at the first synchronization",
        "none": "the first shares stand",
        "GCDLB": "who runs out interrupts all; rank 0 shares out what is left",
        "GDDLB": "who runs out interrupts all; all share out what is left alike",
        "LCDLB": "who runs out interrupts its group; rank 0 shares out what is left of it",
        "LDDLB": "who runs out interrupts its group; its ranks share out what is left of it alike",
        "diffusion": "neighbouring ranks even out their times, round by round",
        "SS": "one iteration at a time from a pool",
        "FSC": "chunks of one size from a pool, by the overhead and how times vary",
        "mFSC": "chunks of one size from a pool, as many as factoring makes",
        "GSS": "chunks of 1/P of what is left in a pool",
        "TSS": "chunks from a pool that grow smaller evenly",
        "FAC": "batches of P equal chunks from a pool, by how times vary",
        "FAC2": "batches of P equal chunks from a pool, each half of what is left",
        "WF": "as FAC2, chunks in proportion to known speeds",
        "AWF": "as WF, speeds measured in earlier passes",
        "AWF_B": "as WF, speeds measured from batch to batch",
        "AWF_C": "as WF, speeds measured from chunk to chunk",
        "AWF_D": "as AWF_B, with what waiting for a chunk takes",
        "AWF_E": "as AWF_C, with what waiting for a chunk takes",
        "AF": "chunks from a pool by each rank's mean time and how it varies, measured",
        "steal": "who runs out asks others at random for half of what they have left",
        "periodic": "all share out what is left at fixed times, to compare with",
        "gradient": "work moves to the neighbour that is nearer to an idle rank, to compare with",
        "affinity": "who runs out takes 1/P of what the fullest rank has left, to compare with",
    }
)
