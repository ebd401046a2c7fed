"""Libraries: collections that are kept, searched, and asked about what comes in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from . import _doppel
from ._decision import Decision, match_in, path_in
from ._errors import ArgumentError, Error, choice, each_of, whole
from ._fingerprint import Fingerprint, hash
from ._groups import Group, Groups, byte_strings, take_options
from ._items import Added, Found, Item, connect, input_of, item_of
from ._run import Progress, Run, StrPath, handle_of, path_bytes

_PAGE = 1000
_WORDS = {None: 0, "same": 1, "distinct": 2}


class Library:
    """A library on the disk, open to be searched and written to.

        with doppel.Library("photos.doppel") as library:
            library.add("~/Pictures")
            library.find("query.jpg")

    Any thread may use it: searches run at the same time, changes take turns. What was added is on
    the disk when the call returns. `library.aio` has the same calls to be awaited.

    Args:
        path: a folder, which is made where it is not there, unless `create` is false.
        read_only: nothing is written.
        durable: what is kept survives power loss, not only the end of the process.
        run: workers, limits and callbacks; None: the default limits.
        progress: as of Run, where `run` is not given.

    Raises NotFoundError, ArgumentError, BusyError, VersionError, StorageError, InputError.
    """

    def __init__(
        self,
        path: StrPath,
        *,
        create: bool = True,
        read_only: bool = False,
        durable: bool = False,
        run: Optional[Run] = None,
        progress: Union[bool, Callable[[Progress], object], None] = None,
    ) -> None:
        self.path = os.fsdecode(path_bytes(path) or b"")
        self._durable = durable
        self._read_only = read_only
        self._failures: list[Error] = []  # of the call that adds: only one does at a time
        if run is None:
            run = Run(progress=progress, on_failed=self._failures.append)
        self._run_handle = handle_of(run)
        self._run = run
        self._lock = threading.RLock()
        self._searches: list[tuple[str, Any]] = []
        self._deciders: dict[str, Any] = {}
        self._open: Any = self._handle(create=create and not read_only, read_only=read_only)

    def _handle(self, *, create: bool = False, read_only: bool = True) -> Any:
        return _doppel.library_open(
            path_bytes(self.path) or b"", create, read_only, self._durable
        )

    def close(self) -> None:
        """Close it; calls that are in progress end first. Closing it again is fine."""
        with self._lock:
            self._deciders.clear()
            self._searches.clear()
            self._open = None

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<doppel.Library {self.path!r}{'' if self._open else ', closed'}>"

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Any]:
        """The handle, for one thread at a time."""
        with self._lock:
            if self._open is None:
                raise ArgumentError(f"{self.path}: the library is closed")
            yield self._open

    # ---- changes ----

    def add(
        self,
        paths: Union[StrPath, Iterable[StrPath]],
        *,
        labels: Iterable[str] = (),
        lists: Iterable[str] = (),
        source: Optional[str] = None,
        kinds: Optional[Iterable[str]] = None,
        schemes: Optional[Iterable[str]] = None,
        exclude: Iterable[str] = (),
        extensions: Iterable[str] = (),
        hidden: bool = False,
        archives: bool = False,
    ) -> list[Added]:
        """Remember files, and those in folders; the same path again updates its item.

        Args:
            paths: files and folders; "~" is your home.
            labels, lists, source: what is remembered of each.
            kinds: of "text", "image", "audio", "video"; None: all.
            schemes: by which they are fingerprinted; None: the default ones.
            exclude, extensions, hidden, archives: which files there are, as of doppel.scan().

        Returns what came of each; those that could not be read are last, with their error. After
        Ctrl-C, too, what was read is kept. Raises ArgumentError, BusyError, StorageError.
        """
        options = take_options(
            labels=labels, lists=lists, source=source, kinds=kinds, schemes=schemes,
            exclude=exclude, extensions=extensions, hidden=hidden, archives=archives,
        )  # fmt: skip
        full = tuple(
            os.path.abspath(os.path.expanduser(path)) for path in byte_strings(paths) or ()
        )
        with self._changing() as handle:
            self._failures.clear()
            said = _doppel.library_add(self._run_handle, handle, full, options)
            failed = [Added(None, error.path, "failed", error) for error in self._failures]
        return [Added(row["id"], path_in(row), row["added"]) for row in json.loads(said)] + failed

    def remove(self, item: Union[int, str]) -> None:
        """Take an item out, by its id or as people call it. Raises NotFoundError."""
        with self._changing() as handle:
            _doppel.library_remove(handle, self._id(handle, item))

    def mark(
        self,
        a: Union[int, str],
        b: Union[int, str],
        word: Optional[str],
        *,
        note: Optional[str] = None,
    ) -> None:
        """Say that two items are the "same" or "distinct", which outranks every hash; None takes it
        back. Raises NotFoundError, ArgumentError."""
        if word is not None:
            choice("word", word, ("same", "distinct"))
        with self._changing() as handle:
            ids = self._id(handle, a), self._id(handle, b)
            _doppel.library_mark(handle, *ids, _WORDS[word], note)

    @staticmethod
    def _id(handle: Any, item: Union[int, str]) -> int:
        if isinstance(item, int):
            return item
        return int(_doppel.library_resolve(handle, path_bytes(item) or b""))

    # ---- what comes in ----

    def ingest(self, record: Any = None, **fields: Any) -> Decision:
        """Decide about a file, a text or a fingerprint, and remember it.

        Args:
            record: a path; a Fingerprint; or a mapping with "path", "text" or "fingerprint", and,
                where they are known, "id", "source", "date". Or these as keywords.

        Returns what it is to what came before. What is unreadable is no exception, but a decision.
        Raises ArgumentError, TypeMismatchError, BusyError, StorageError.
        """
        return self._decide([input_of(record, fields)], dry_run=False)[0]

    def check(self, record: Any = None, **fields: Any) -> Decision:
        """What ingest() would decide; nothing is remembered."""
        return self._decide([input_of(record, fields)], dry_run=True)[0]

    def ingest_all(self, records: Iterable[Any], *, at_once: int = 256) -> Iterator[Decision]:
        """Decide about many, `at_once` (1 to 4096) of them in a transaction: faster than one by
        one. Decisions come in their order. Records and errors are those of ingest()."""
        at_once = whole("at_once", at_once, 4096, least=1)
        waiting: list[dict[str, Any]] = []
        for record in each_of("records", records):
            waiting.append(input_of(record, {}))
            if len(waiting) == at_once:
                yield from self._decide(waiting, dry_run=False)
                waiting = []
        if waiting:
            yield from self._decide(waiting, dry_run=False)

    def _decide(self, inputs: list[dict[str, Any]], *, dry_run: bool) -> list[Decision]:
        with self._changing():
            key = "check" if dry_run else "ingest"
            decider = self._deciders.pop(key, None)
            if decider is None:
                handle = self._handle(read_only=self._read_only or dry_run)
                decider = _doppel.decider_new(self._run_handle, handle, {"dry_run": dry_run})
            said = _doppel.decider_decide(decider, tuple(inputs))
            self._deciders[key] = decider  # not after a failure: it fails for good then
        return [Decision.from_json(decision) for decision in json.loads(said)]

    # ---- questions ----

    def find(
        self,
        source: Any = None,
        *,
        text: Union[str, bytes, None] = None,
        scheme: Optional[str] = None,
        max_distance: Optional[int] = None,
        min_similarity: Optional[float] = None,
        max_fp_rate: Optional[float] = None,
        near_misses: int = 0,
    ) -> list[Found]:
        """Find what matches a file, a text or a fingerprint: the same, or what shares a part.

        Args:
            source, text, scheme: a Fingerprint, or as of doppel.hash().
            max_distance, min_similarity, max_fp_rate, near_misses: as of doppel.compare().

        Returns the best first. Threads may search at the same time. Raises as doppel.hash().
        """
        query = source
        if not isinstance(query, Fingerprint):
            query = hash(source, text=text, scheme=scheme, run=self._run)
        options = take_options(
            schemes=[query.scheme], max_distance=max_distance, min_similarity=min_similarity,
            max_fp_rate=max_fp_rate, near_misses=near_misses,
        )  # fmt: skip
        with self._searching(options) as search:
            said = _doppel.search_record(search, query._record)
        return [
            Found(row["id"], path_in(row), match_in(row), row) for row in json.loads(said) if row
        ]

    @contextlib.contextmanager
    def _searching(self, options: dict[str, Any]) -> Iterator[Any]:
        """A search of its own for each thread: those that are idle are used again."""
        key = repr(sorted(options.items()))
        with self._changing():
            idle = next((made for made in self._searches if made[0] == key), None)
            if idle:
                self._searches.remove(idle)
        search = idle[1] if idle else _doppel.search_new(
            self._run_handle, self._handle(), options
        )
        yield search
        with self._lock:
            if self._open is not None:
                self._searches = [(key, search), *self._searches][:16]

    def groups(self, **options: Any) -> Groups:
        """The groups of duplicates in it. Options are those of doppel.scan() that are not about
        files: kinds, schemes, max_distance, min_similarity, max_fp_rate, keep, ... Raises
        ArgumentError, StorageError."""
        known = "kinds schemes max_distance min_similarity max_fp_rate keep keep_from protect "
        known += "not_within bursts digests"
        unknown = set(options) - set(known.split())
        if unknown:
            raise ArgumentError(f"groups() has no option {', '.join(sorted(unknown))}")
        found: list[Group] = []
        with self._changing():
            handle = self._handle()
        counts = _doppel.library_groups(
            self._run_handle,
            handle,
            take_options(**options),
            lambda said: found.append(Group.from_json(json.loads(said))),
        )
        return Groups(found, [], counts)

    def items(
        self,
        where: Optional[str] = None,
        *,
        lists: Iterable[str] = (),
        labels: Iterable[str] = (),
        details: bool = False,
    ) -> Iterator[Item]:
        """Items and texts, by id.

        Args:
            where: an expression of SQLite over the view `items` (docs/formats.md): "width > 1000".
            lists, labels: those on one of the lists, with one of the labels.
            details: what is said of them, and whom they follow, too.

        Raises ArgumentError, with SQLite's sentence.
        """
        options = take_options(where=where, lists=lists, labels=labels, details=details)
        first = 0
        with self._changing():
            handle = self._handle()
        while True:
            page = json.loads(_doppel.library_items(handle, first, _PAGE, options))
            yield from map(item_of, page)
            if len(page) < _PAGE:
                return
            first = page[-1]["id"] + 1

    def item(self, item: Union[int, str]) -> Item:
        """An item by its id, path, or external id, with all that is said of it. Raises
        NotFoundError."""
        with self._changing() as handle:
            return item_of(
                json.loads(_doppel.library_item(handle, self._id(handle, item), False))
            )

    @property
    def sql(self) -> sqlite3.Connection:
        """A new connection to its catalogue, read only, with hamming(a, b), and doppel_find(code,
        radius) as a table of id and distance, where they can be loaded.

        The view `items` is documented (docs/formats.md). Close it before the library is removed.
        Raises StorageError.
        """
        with self._changing():
            return connect(self.path)

    @property
    def aio(self) -> AsyncLibrary:
        """The same calls, to be awaited: each runs in a thread."""
        return AsyncLibrary(self)


class AsyncLibrary:
    """The calls of a Library, to be awaited."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def add(self, *args: Any, **options: Any) -> list[Added]:
        """As Library.add()."""
        return await asyncio.to_thread(self._library.add, *args, **options)

    async def find(self, *args: Any, **options: Any) -> list[Found]:
        """As Library.find()."""
        return await asyncio.to_thread(self._library.find, *args, **options)

    async def ingest(self, *args: Any, **fields: Any) -> Decision:
        """As Library.ingest()."""
        return await asyncio.to_thread(self._library.ingest, *args, **fields)

    async def check(self, *args: Any, **fields: Any) -> Decision:
        """As Library.check()."""
        return await asyncio.to_thread(self._library.check, *args, **fields)

    async def groups(self, **options: Any) -> Groups:
        """As Library.groups()."""
        return await asyncio.to_thread(self._library.groups, **options)
