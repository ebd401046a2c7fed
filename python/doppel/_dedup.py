"""Corpora of texts without their duplicates."""

from __future__ import annotations

import itertools
import json
import tempfile
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _doppel
from ._decision import Decision
from ._errors import (
    ArgumentError,
    StorageError,
    TypeMismatchError,
    choice,
    each_of,
    share,
    whole,
)
from ._groups import byte_strings
from ._run import Progress, Run, StrPath, handle_of, path_bytes, path_text


_UNIQUE = b"[true,"
_quoted = json.JSONEncoder(ensure_ascii=False).encode  # of a str it is one call of C
_WRITTEN = 256  # lines at once


class Deduplicated(Sequence[Decision]):
    """A decision for each record of a corpus, in their order."""

    def __init__(self, decided: list[bytes], spool: Optional[str] = None) -> None:
        self._decided = decided  # "[true,{…}]": whether it is unique, and JSON for who asks
        self._spool = spool  # the file that is gone, in which they were: nobody's path

    def _said(self, line: bytes) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(line)[1]
        for key in ("path", "of_path"):
            if said.get(key) == self._spool:
                said.pop(key, None)
        return said

    @overload
    def __getitem__(self, at: int) -> Decision: ...
    @overload
    def __getitem__(self, at: slice) -> list[Decision]: ...
    def __getitem__(self, at: Union[int, slice]) -> Union[Decision, list[Decision]]:
        if isinstance(at, slice):
            return [Decision.from_json(self._said(line)) for line in self._decided[at]]
        return Decision.from_json(self._said(self._decided[at]))

    def __len__(self) -> int:
        return len(self._decided)

    def __repr__(self) -> str:
        return f"<doppel.Deduplicated: {len(self.unique)} of {len(self)} records are unique>"

    @property
    def unique(self) -> list[int]:
        """Numbers, from 0, of the records that belong to the corpus without its duplicates."""
        return [number for number, line in enumerate(self._decided) if line.startswith(_UNIQUE)]

    def keep(self, records: Iterable[Any]) -> Iterator[Any]:
        """Of the records that were given, in their order, those that are unique."""
        for line, record in zip(self._decided, records):
            if line.startswith(_UNIQUE):
                yield record

    def groups(self) -> dict[int, list[int]]:
        """By the number of a record those of its duplicates, parts and revisions; of one corpus
        that was not read from several files."""
        found: dict[int, list[int]] = {}
        for number, line in enumerate(self._decided):
            if b'"of_line"' in line and "of_line" in (said := self._said(line)):
                found.setdefault(said["of_line"] - 1, []).append(number)
        return found


def _texts(records: Any, text: str) -> Any:
    """The column of a data frame, data set or table; else the records themselves."""
    named = getattr(records, "columns", None)
    if getattr(records, "column_names", None) is not None:
        named = records.column_names
    if named is None or isinstance(records, (str, bytes)):
        return records
    if text not in list(named):
        raise ArgumentError(f"there is no column '{text}'")
    column = records[text]
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def _is_arrow(records: Any) -> bool:
    """Of pandas, which speaks Arrow only where pyarrow is installed, columns are read."""
    speaks = hasattr(records, "__arrow_c_stream__") or hasattr(records, "__arrow_c_array__")
    return speaks and type(records).__module__.split(".")[0] != "pandas"


def _write_lines(lines: Iterator[str], write: Callable[[str], object]) -> None:
    while part := list(itertools.islice(lines, _WRITTEN)):
        write("".join(part))


def _write_arrow(records: Any, text: str, id: str, write: Callable[[str], object]) -> None:
    """Lines of a table or column, by Arrow's C data interface, a batch at a time."""

    def take(texts: list[Any], ids: Optional[list[Any]]) -> None:
        rows = texts if ids is None else [{text: row, id: one} for row, one in zip(texts, ids)]
        _write_lines(_lines(rows, text, id), write)

    if hasattr(records, "__arrow_c_stream__"):
        _doppel.arrow_stream(records.__arrow_c_stream__(), text, id, take)
        return
    capsules = records.__arrow_c_array__()
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise TypeMismatchError("__arrow_c_array__ is to give two capsules", "type")
    _doppel.arrow_array(capsules[0], capsules[1], text, id, take)


def _lines(records: Any, text: str, id: str) -> Iterator[str]:
    """JSON, a line each. To encode strings alone takes a third of the time of whole records."""
    for record in each_of("records", _texts(records, text)):
        if isinstance(record, str):
            yield f'{{"text":{_quoted(record)}}}\n'
        elif isinstance(record, Mapping) and isinstance(said := record.get(text), str):
            known = record.get(id)
            named = "" if known is None else f',"id":{_quoted(str(known))}'
            yield f'{{"text":{_quoted(said)}{named}}}\n'
        else:
            raise TypeMismatchError(
                f"a record is a str, or a mapping with a str as '{text}', not {record!r:.80}",
                "type",
            )


def dedup(
    records: Any = None,
    *,
    files: Union[StrPath, Iterable[StrPath], None] = None,
    text: str = "text",
    id: str = "id",
    preset: Optional[str] = None,
    min_similarity: Optional[float] = None,
    min_containment: Optional[float] = None,
    shingle: int = 5,
    unit: str = "words",
    cluster: str = "representatives",
    threads: int = 0,
    memory: int = 0,
    temporary: Optional[StrPath] = None,
    progress: Union[bool, Callable[[Progress], object], None] = None,
    run: Optional[Run] = None,
) -> Deduplicated:
    """Decide for every text whether it is new, or a near-duplicate of one that came before.

    Args:
        records: str, or mappings, in any iterable, pandas.Series too; a DataFrame, a data set or
            an Arrow table with a column `text`, or an Arrow column, by Arrow's C data interface
            (__arrow_c_stream__, __arrow_c_array__: pyarrow, polars, DuckDB). They are read once.
        files: in place of records, files and folders of JSON Lines, CSV or TSV, also compressed
            by gzip or Zstandard.
        text, id: names of fields or columns; an id that came before makes a revision.
        preset: "web", "news", "ocr", "code": thresholds and shingles for a kind of collection.
        min_similarity: Jaccard similarity of the shingles, 0 to 1; None: 0.7, or the preset's.
        min_containment: of one in the other, where the similarity is too low; None: 0.9.
        shingle, unit: how many "words" or "characters" make a shingle.
        cluster: "representatives", all are near the first of a group; "components", each is near
            some other one.
        threads: 0: one a processor.
        memory: bytes, beyond which signatures go to the disk; 0: no limit.
        temporary: folder for the records' texts while it runs; None: $TMPDIR or /tmp.
        progress: as of Run.

    Returns a decision for each. Raises TypeMismatchError (a record without a text), ArgumentError,
    StorageError. Of files, what cannot be read is a decision "unreadable". The GIL is released;
    Ctrl-C ends it.
    """
    if (records is None) == (files is None):
        raise ArgumentError("dedup takes either records or files")
    for name, field in ("text", text), ("id", id):
        if not isinstance(field, str):
            raise TypeMismatchError(f"{name}: the name of a field is wanted", "type")
    options = {
        "preset": path_bytes(preset),
        "cluster": choice("cluster", cluster, ("representatives", "components")).encode(),
        "text_field": path_bytes(text),
        "id_field": path_bytes(id),
        "min_similarity": _limit("min_similarity", min_similarity),
        "min_containment": _limit("min_containment", min_containment),
        "shingle": whole("shingle", shingle, 16, least=1),
        "characters": choice("unit", unit, ("words", "characters")) == "characters" or None,
        "threads": whole("threads", threads, 4096),
        "memory": whole("memory", memory, 2**63 - 1),
    }
    run = run if run is not None else Run(progress=progress)
    if files is not None:
        return Deduplicated(_decide(files, options, run))
    with _spool(temporary) as file:
        if _is_arrow(records):
            _write_arrow(records, text, id, file.write)
        else:
            _write_lines(_lines(records, text, id), file.write)
        file.flush()
        options.update(text_field=b"text", id_field=b"id")
        return Deduplicated(_decide(file.name, options, run), file.name)


def _limit(name: str, value: Optional[float]) -> Optional[float]:
    return None if value is None else share(name, value)


def _spool(folder: Optional[StrPath]) -> Any:
    """A file for records, which is gone when it is closed."""
    named = path_text(path_bytes(folder))
    try:
        return tempfile.NamedTemporaryFile(
            "w", suffix=".jsonl", encoding="utf-8", errors="replace", dir=named
        )
    except OSError as error:
        raise StorageError(f"no file can be made: {error.strerror}", "io", named) from None


def _decide(
    files: Union[StrPath, Iterable[StrPath]], options: dict[str, Any], run: Run
) -> list[bytes]:
    """A line of JSON for each record."""
    decided: list[bytes] = []

    def take(lines: bytes) -> None:
        decided.extend(lines.split(b"\n")[:-1])

    _doppel.dedup(handle_of(run), byte_strings(files) or (), options, take)
    return decided
