"""An index of postings: keys, and where they are in which items."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Optional

from . import _doppel
from ._arrays import array_of, int64_in, numbers_in, uint32_in
from ._errors import ArgumentError


class PostingsResult(NamedTuple):
    """Of key i the postings `lims[i]` to `lims[i + 1]`."""

    lims: Any  #: int64, one more than there were keys
    ids: Any  #: int64
    positions: Any  #: uint32, in the item


class Postings:
    """Keys of up to 32 bits at positions of items: look a key up, and have all places.

    What lies in one piece is not copied. It is in memory. Any number of threads may look keys up;
    those that add or remove take turns.

    Args:
        key_bits: keys are below 2 ** key_bits.

    Raises ArgumentError.
    """

    def __init__(self, key_bits: int = 25) -> None:
        if not 1 <= key_bits <= 32:
            raise ArgumentError("key_bits: 1 to 32")
        self._handle = _doppel.index_new(3, 64, 8, False, 128, 25, 5, key_bits)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Postings, with those that were removed and lie in a segment still."""
        return int(_doppel.index_info(self._handle)[3])

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return int(_doppel.index_info(self._handle)[4])

    def __repr__(self) -> str:
        return f"<doppel.Postings: {len(self)} of them>"

    def add(self, id: int, postings: Any, length: Optional[int] = None) -> None:
        """Add an item.

        Args:
            id: -2**63 to 2**63 - 1; it need not be unique.
            postings: uint32, n × 2: a key and its position, in any order.
            length: of the item; positions are below it. None: up to the last position.

        Raises ArgumentError (also: a key or position too large), TypeMismatchError.
        """
        if not isinstance(id, int) or not -(2**63) <= id < 2**63:
            raise ArgumentError("id: a number of 64 bits")
        if length is not None and not 1 <= length < 2**32:
            raise ArgumentError("length: 1 to 2**32 - 1")
        with self._lock:
            taken = numbers_in(postings, "I")
            _doppel.postings_add(self._handle, id % 2**64, taken, length or 0)

    def remove(self, ids: Any) -> None:
        """Remove all items of these ids; those that are not there are fine."""
        with self._lock:
            _doppel.index_remove(self._handle, array_of(ids))

    def lookup(self, keys: Any) -> PostingsResult:
        """All places of each of some keys, uint32. Raises ArgumentError, TypeMismatchError."""
        lims, ids, positions = _doppel.postings_lookup(self._handle, numbers_in(keys, "I"))
        return PostingsResult(int64_in(lims), int64_in(ids), uint32_in(positions))
