"""doppel finds duplicates and near-duplicates among images, text, audio and video.

    import doppel

    doppel.compare("a.jpg", "b.jpg")                # a Match, true if they match
    doppel.hash("a.jpg") - doppel.hash("b.jpg")     # bits that differ

    for group in doppel.scan("~/Pictures"):         # groups of duplicates
        print(group.keep, group.duplicates)
    doppel.dedup(texts).unique                      # numbers of the texts that are no duplicates

    with doppel.Library("photos.doppel") as library:
        library.add("pictures")
        library.find("query.jpg")

    index = doppel.Index(bits=64, radius=8)
    index.add(codes)
    lims, ids, distances = index.search(queries)
"""

from ._doppel import version as _version
from ._decision import Decision
from ._dedup import Deduplicated, dedup
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
from ._groups import Group, Groups, Member, scan
from ._index import Bands, Index, RangeResult
from ._items import Added, Found, Item
from ._library import Library
from ._match import Match, Place, Segment, Where
from ._minhash import minhash
from ._postings import Postings, PostingsResult
from ._run import Progress, Run

__version__ = _version()

__all__ = [
    "Added",
    "ArgumentError",
    "Bands",
    "BusyError",
    "CancelledError",
    "Decision",
    "Deduplicated",
    "Error",
    "Fingerprint",
    "Found",
    "Group",
    "Groups",
    "Index",
    "InputError",
    "Item",
    "Library",
    "Match",
    "Member",
    "NotFoundError",
    "OutOfMemoryError",
    "Place",
    "Postings",
    "PostingsResult",
    "Progress",
    "RangeResult",
    "Run",
    "Scheme",
    "Segment",
    "StorageError",
    "TypeMismatchError",
    "VersionError",
    "Where",
    "compare",
    "dedup",
    "find_passages",
    "hash",
    "minhash",
    "scan",
    "schemes",
]
