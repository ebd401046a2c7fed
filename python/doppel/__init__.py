"""doppel finds duplicates and near-duplicates among images, text, audio and video.

    import doppel

    doppel.compare("a.jpg", "b.jpg")                # a Match, true if they match
    doppel.hash("a.jpg") - doppel.hash("b.jpg")     # bits that differ

    index = doppel.Index(bits=64, radius=8)
    index.add(codes)
    lims, ids, distances = index.search(queries)
"""

from ._doppel import version as _version
from ._errors import (
    ArgumentError,
    BusyError,
    CancelledError,
    Error,
    InputError,
    NotFoundError,
    OutOfMemoryError,
    StorageError,
    TypeMismatchError,
    VersionError,
)
from ._fingerprint import Fingerprint, Scheme, compare, find_passages, hash, schemes
from ._index import Index, RangeResult
from ._match import Match, Segment
from ._run import Progress, Run

__version__ = _version()

__all__ = [
    "ArgumentError",
    "BusyError",
    "CancelledError",
    "Error",
    "Fingerprint",
    "Index",
    "InputError",
    "Match",
    "NotFoundError",
    "OutOfMemoryError",
    "Progress",
    "RangeResult",
    "Run",
    "Scheme",
    "Segment",
    "StorageError",
    "TypeMismatchError",
    "VersionError",
    "compare",
    "find_passages",
    "hash",
    "schemes",
]
