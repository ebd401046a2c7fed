"""What goes into a library, and what comes out of it."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple, Optional
from urllib.parse import quote

from ._decision import path_in
from ._errors import ArgumentError, Error, StorageError, TypeMismatchError
from ._fingerprint import Fingerprint
from ._match import Match
from ._run import path_bytes


class Added(NamedTuple):
    """What came of a file that was to be added."""

    id: Optional[int]  #: of the item; None: it could not be read
    path: Optional[str]
    added: str  #: "new", "unchanged", "updated", "moved", "failed"
    error: Optional[Error] = None


@dataclass(frozen=True)
class Found:
    """An item that a query matches."""

    id: int
    path: Optional[str]  #: None: it has no file
    match: Optional[Match]
    fields: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Item:
    """An item of a library: what `doppel show --json` prints, as `fields`."""

    id: int
    kind: Optional[str]
    path: Optional[str]
    fields: Mapping[str, Any] = field(repr=False, compare=False)


def item_of(said: Mapping[str, Any]) -> Item:
    return Item(said["id"], said.get("kind"), path_in(said), said)


def connect(folder: str) -> sqlite3.Connection:
    """A connection to the catalogue of a library, read only, with its functions."""
    place = os.path.join(os.path.abspath(folder), "catalogue.db")
    try:
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(place))}?mode=ro", uri=True, check_same_thread=False
        )
        connection.execute("SELECT 1 FROM items LIMIT 0")
    except sqlite3.Error as error:
        raise StorageError(str(error), "io", place) from None
    _load_functions(connection)
    return connection


def _load_functions(connection: sqlite3.Connection) -> None:
    """Of a Python whose sqlite3 cannot load extensions, there are none."""
    library = os.path.join(os.path.dirname(__file__), "doppel-sqlite")
    if os.path.exists(library) and hasattr(connection, "enable_load_extension"):
        connection.enable_load_extension(True)
        connection.load_extension(library)
        connection.enable_load_extension(False)


def input_of(record: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a decider is given."""
    if isinstance(record, Fingerprint):
        fields = {**fields, "fingerprint": record}
    elif isinstance(record, (str, bytes, os.PathLike)):
        fields = {**fields, "path": record}
    elif isinstance(record, Mapping):
        fields = {**record, **fields}
    elif record is not None:
        raise ArgumentError("a record is a path, a Fingerprint or a mapping")
    made: dict[str, Any] = {}
    for name in ("id", "source", "date"):
        if fields.get(name) is not None:
            made[name] = path_bytes(str(fields[name]))
    if fields.get("text") is not None:
        text = fields["text"]
        if not isinstance(text, (str, bytes)):
            raise TypeMismatchError("a text is a str or bytes", "type")
        made["text"] = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    elif isinstance(fields.get("fingerprint"), Fingerprint):
        made["record"] = fields["fingerprint"]._record
    elif fields.get("path") is not None:
        made["path"] = os.path.abspath(path_bytes(fields["path"]) or b"")
    else:
        raise ArgumentError("a record has a path, a text or a fingerprint")
    return made
