"""Indexes of binary codes, every one within a radius, and of MinHash signatures, by bands."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Optional, TypeVar

from . import _doppel
from ._arrays import array_of, codes_in, int32_in, int64_in, lanes_in, rows_in
from ._errors import ArgumentError, share, whole
from ._run import StrPath, path_bytes

_T = TypeVar("_T", bound="Table")


class RangeResult(NamedTuple):
    """Of query i the hits `lims[i]` to `lims[i + 1]`, by distance, then id."""

    lims: Any  #: int64, one more than there were queries
    ids: Any  #: int64
    distances: Any  #: int32, bits


class Table:
    """What all indexes have in common."""

    _table = 0  # of enum doppel_index_table

    def _start(self, handle: Any) -> None:
        self._handle = handle
        self._lock = threading.Lock()
        self._next = int(_doppel.index_info(handle)[3])
        self._describe(_doppel.index_info(handle))

    def _describe(self, info: tuple[int, ...]) -> None:
        """Take what the index is made for."""

    @classmethod
    def load(cls: type[_T], path: StrPath) -> _T:
        """Open an index that save() or `doppel index build` made: its files are mapped, not read.

        It is searched only. Raises NotFoundError, StorageError, VersionError, InputError.
        """
        made = cls.__new__(cls)
        made._start(_doppel.index_open(path_bytes(path) or b"", cls._table))
        return made

    def save(self, path: StrPath) -> None:
        """Write it to a folder that is not there yet. Others may search meanwhile, nobody adds.

        Raises ArgumentError, StorageError.
        """
        with self._lock:
            _doppel.index_save(self._handle, path_bytes(path) or b"")

    def __len__(self) -> int:
        """Codes, or postings, with those that were removed and lie in a segment still."""
        return int(_doppel.index_info(self._handle)[3])

    @property
    def nbytes(self) -> int:
        """How much memory, or of files how much of the disk, it takes."""
        return int(_doppel.index_info(self._handle)[4])

    def remove(self, ids: Any) -> None:
        """Remove all of these ids; those that are not there are fine."""
        with self._lock:
            _doppel.index_remove(self._handle, array_of(ids))


class _Codes(Table):
    """What indexes of codes and of signatures have in common."""

    _most = 0  # the largest distance
    _radius = 0

    def _taken(self, codes: Any) -> Any:
        """Codes as the extension takes them."""
        return codes

    @property
    def radius(self) -> int:
        """The default one of searches."""
        return int(self._radius)

    def add(self, codes: Any, ids: Any = None) -> int:
        """Add codes, all or none.

        Args:
            codes: n of them.
            ids: n of int64 or uint64; they need not be unique. None: counted on from what was
                added, from 0.

        Returns how many were added. Raises ArgumentError, TypeMismatchError, OutOfMemoryError.
        """
        with self._lock:
            count: int = _doppel.index_add(
                self._handle,
                self._taken(codes),
                None if ids is None else array_of(ids),
                self._next,
            )
            self._next += count
        return count

    def search(
        self, queries: Any, radius: Optional[int] = None, *, limit: int = 0, threads: int = 0
    ) -> RangeResult:
        """Find every code within a radius of each query.

        Args:
            queries: codes.
            radius: in bits, of signatures lanes; None: that of the index.
            limit: the nearest so many hits of a query; 0: all.
            threads: 0: as many as pay.

        Returns (lims, ids, distances): of query i the hits lims[i] to lims[i + 1], as FAISS's
        range_search has them, by distance, then id. Ctrl-C ends it. Raises ArgumentError,
        TypeMismatchError.
        """
        wanted = self._radius if radius is None else radius
        lims, ids, distances = _doppel.index_search(
            self._handle, self._taken(queries), wanted, 0, limit, threads
        )
        return RangeResult(int64_in(lims), int64_in(ids), int32_in(distances))

    def knn(
        self, queries: Any, k: int, *, radius: Optional[int] = None, threads: int = 0
    ) -> tuple[Any, Any]:
        """Find the `k` nearest codes of each query, ties by id.

        Args:
            queries: codes.
            k: 1 or more.
            radius: the largest distance of what is found; None: any.
            threads: 0: as many as pay.

        Returns (distances, ids), int32 and int64, each n × k; where there are fewer, -1. Raises
        ArgumentError, TypeMismatchError, OutOfMemoryError.
        """
        wanted = self._most if radius is None else radius
        k = whole("k", k, 2**31, least=1)
        distances, ids = _doppel.index_search(
            self._handle, self._taken(queries), wanted, k, 0, threads
        )
        return rows_in(distances, k, int32_in), rows_in(ids, k, int64_in)


class Index(_Codes):
    """Binary codes of 32, 64, 128 or 256 bits, searched by Hamming distance, exactly.

    Codes are arrays of uint64, with bits / 64 words to a row, or of uint8 with bits / 8 to a row,
    as FAISS packs them; of 32 bits, of uint32. What lies in one piece is not copied. Results are
    arrays of numpy, or memoryviews where it is not installed.

    Any number of threads may search; those that add or remove take turns.

    Args:
        bits: 32, 64, 128 or 256.
        radius: at which searches are to be fastest; others are exact as well.
        compact: fewer bytes a code, slower.

    Raises ArgumentError.
    """

    _table = 1

    def __init__(self, bits: int = 64, radius: int = 8, *, compact: bool = False) -> None:
        bits = whole("bits", bits, 256)
        if bits not in (32, 64, 128, 256):
            raise ArgumentError("bits: 32, 64, 128 or 256")
        radius = whole("radius", radius, bits)
        self._start(_doppel.index_new(self._table, bits, radius, compact, 128, 25, 5, 25))

    def _describe(self, info: tuple[int, ...]) -> None:
        self._most, self._radius = info[1], info[2]

    def _taken(self, codes: Any) -> Any:
        return codes_in(codes, self._most)

    @property
    def bits(self) -> int:
        """Of a code."""
        return int(self._most)

    def __repr__(self) -> str:
        return f"<doppel.Index of {len(self)} codes of {self.bits} bits, radius {self.radius}>"


class Bands(_Codes):
    """MinHash signatures of 16-bit lanes; found are those that share a whole band with the query.

    The distance of two is the number of lanes that differ: 1 - distance / lanes estimates how
    similar two sets are. Signatures are arrays of uint16, n × lanes, or as Fingerprint.codes has
    them, uint64, n × lanes / 4. What lies in one piece is not copied.

    Any number of threads may search; those that add or remove take turns.

    Args:
        lanes: a multiple of 4.
        similarity: 0 to 1, at and above which nearly all are found; it is the default radius, and
            chooses bands.
        bands, rows: so many bands of so many lanes, in place of those that are chosen.

    Raises ArgumentError.
    """

    _table = 2

    def __init__(
        self,
        lanes: int = 128,
        similarity: float = 0.7,
        *,
        bands: Optional[int] = None,
        rows: Optional[int] = None,
    ) -> None:
        lanes, similarity = whole("lanes", lanes, 4096, least=4), share("similarity", similarity)
        if lanes % 4:
            raise ArgumentError("lanes: a multiple of 4")
        if (bands is None) != (rows is None):
            raise ArgumentError("bands and rows are given together")
        if bands is None or rows is None:
            bands, rows = _doppel.bands_choose(lanes, similarity)
        bands = whole("bands", bands, lanes, least=1)
        rows = whole("rows", rows, lanes, least=1)
        self._start(_doppel.index_new(self._table, 64, 8, False, lanes, bands, rows, 25))
        self._radius = int(lanes * (1 - similarity) + 1e-9)

    def _describe(self, info: tuple[int, ...]) -> None:
        self._most, self._bands, self._rows = info[5:]
        self._radius = int(self._most * 0.3)

    def _taken(self, codes: Any) -> Any:
        return lanes_in(codes, self._most)

    @property
    def lanes(self) -> int:
        """Of a signature."""
        return int(self._most)

    @property
    def bands(self) -> int:
        """How many there are."""
        return int(self._bands)

    @property
    def rows(self) -> int:
        """Lanes of a band."""
        return int(self._rows)

    def __repr__(self) -> str:
        shape = f"{self.bands} bands of {self.rows} lanes"
        return f"<doppel.Bands of {len(self)} signatures of {self.lanes} lanes, {shape}>"
