"""An index of postings: keys, and where they are in which items."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from . import _doppel
from ._arrays import int64_in, numbers_in, uint32_in
from ._errors import whole
from ._index import Table


class PostingsResult(NamedTuple):
    """Of key i the postings `lims[i]` to `lims[i + 1]`."""

    lims: Any  #: int64, one more than there were keys
    ids: Any  #: int64
    positions: Any  #: uint32, in the item


class Postings(Table):
    """Keys of up to 32 bits at positions of items: look a key up, and have all places.

    What lies in one piece is not copied. Any number of threads may look keys up; those that add or
    remove take turns.

    Args:
        key_bits: keys are below 2 ** key_bits.

    Raises ArgumentError.
    """

    _table = 3

    def __init__(self, key_bits: int = 25) -> None:
        bits = whole("key_bits", key_bits, 32, least=1)
        self._start(_doppel.index_new(self._table, 64, 8, False, 128, 25, 5, bits))

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
        payload = whole("id", id, 2**63 - 1, least=-(2**63)) % 2**64
        most = 0 if length is None else whole("length", length, 2**32 - 1, least=1)
        taken = numbers_in(postings, "I")
        with self._lock:
            _doppel.postings_add(self._handle, payload, taken, most)

    def lookup(self, keys: Any) -> PostingsResult:
        """All places of each of some keys, uint32. Raises ArgumentError, TypeMismatchError."""
        lims, ids, positions = _doppel.postings_lookup(self._handle, numbers_in(keys, "I"))
        return PostingsResult(int64_in(lims), int64_in(ids), uint32_in(positions))
