"""Groups of duplicates, among files and in libraries."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _doppel
from ._decision import match_in, path_in
from ._errors import Error, each_of
from ._match import Match
from ._run import Progress, Run, StrPath, handle_of, path_bytes


@dataclass(frozen=True)
class Member:
    """A member of a group, and what it is to the one to keep."""

    path: Optional[str]  #: of a file; None: it is a record, or has none
    reason: str  #: "kept", "identical", "same-content", "near", "part", "marked"
    size: Optional[int]  #: bytes
    id: Optional[int]  #: in the library; None: it comes from none
    match: Optional[Match]
    fields: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Group:
    """Files, or items, that are duplicates of the first one: the one to keep."""

    number: int
    kind: str
    keep: str  #: its path, or name
    savable: int  #: bytes that all others take
    members: tuple[Member, ...]
    fields: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def duplicates(self) -> tuple[Member, ...]:
        """All but the one to keep."""
        return self.members[1:]

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Group:
        """Of the fields that `doppel scan --json` prints."""
        members = tuple(
            Member(
                path=path_in(member),
                reason=member["reason"],
                size=member.get("size"),
                id=member.get("id"),
                match=match_in(member),
                fields=member,
            )
            for member in said["members"]
        )
        keep = path_in(said, "keep") or ""
        return cls(said["group"], said["kind"], keep, said.get("savable", 0), members, said)

    def _repr_html_(self) -> str:
        """For notebooks: what its members look like, side by side."""
        from ._html import group_html

        return group_html(self)


class Groups(Sequence[Group]):
    """The groups that a scan found, and the files that could not be read.

    Attributes:
        failures: an Error for each file that could not be read.
        counts: how many files, or items, of each kind there were.
    """

    def __init__(
        self, groups: Iterable[Group], failures: Iterable[Error], counts: Mapping[str, int]
    ) -> None:
        self._groups = list(groups)
        self.failures = list(failures)
        self.counts = dict(counts)

    @overload
    def __getitem__(self, at: int) -> Group: ...
    @overload
    def __getitem__(self, at: slice) -> list[Group]: ...
    def __getitem__(self, at: Union[int, slice]) -> Union[Group, list[Group]]:
        return self._groups[at]

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        duplicates = sum(len(group.duplicates) for group in self)
        many = "" if duplicates == 1 else "s"
        groups = "group" if len(self) == 1 else "groups"
        return f"<doppel.Groups: {duplicates} duplicate{many} in {len(self)} {groups}>"

    @property
    def savable(self) -> int:
        """Bytes that all but the ones to keep take."""
        return sum(group.savable for group in self)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A flat dictionary a member: group, kind, keep, path, reason, size, similarity, ..."""
        for group in self:
            for member in group.members:
                match = member.match
                yield {
                    "group": group.number,
                    "kind": group.kind,
                    "keep": group.keep,
                    "path": member.path,
                    "id": member.id,
                    "reason": member.reason,
                    "size": member.size,
                    "relation": match.relation if match else None,
                    "similarity": match.similarity if match else None,
                    "distance": match.distance if match else None,
                    "false_positive_rate": match.false_positive_rate if match else None,
                }

    def to_pandas(self) -> Any:
        """A DataFrame with a row a member. pandas has to be installed."""
        return import_module("pandas").DataFrame(list(self.rows()), columns=_COLUMNS)

    def to_arrow(self) -> Any:
        """A pyarrow.Table with a row a member. pyarrow has to be installed."""
        return import_module("pyarrow").Table.from_pylist(list(self.rows()))

    def _repr_html_(self) -> str:
        """For notebooks."""
        from ._html import groups_html

        return groups_html(self)


_COLUMNS = ["group", "kind", "keep", "path", "id", "reason", "size", "relation", "similarity"]
_COLUMNS += ["distance", "false_positive_rate"]


def byte_strings(words: Union[StrPath, Iterable[StrPath], None]) -> Optional[tuple[bytes, ...]]:
    """One or several, as the extension takes them."""
    if words is None:
        return None
    if isinstance(words, (str, bytes, os.PathLike)):
        words = (words,)
    return tuple(path_bytes(word) or b"" for word in each_of("paths, or words", words))


def take_options(**options: Any) -> dict[str, Any]:
    """Options as the extension takes them: strings as bytes."""
    texts = {"where", "keep", "source", "date", "external_id", "meta"}
    lists = {"kinds", "schemes", "keep_from", "protect", "exclude", "extensions", "labels", "lists"}
    taken = {}
    for name, value in options.items():
        if name in lists:
            value = byte_strings(value)
        elif name in texts and value is not None:
            value = path_bytes(value)
        taken[name] = value
    return taken


def scan(
    paths: Union[StrPath, Iterable[StrPath]],
    *,
    reference: Union[StrPath, Iterable[StrPath]] = (),
    kinds: Optional[Iterable[str]] = None,
    schemes: Optional[Iterable[str]] = None,
    max_distance: Optional[int] = None,
    min_similarity: Optional[float] = None,
    max_fp_rate: Optional[float] = None,
    parts: bool = False,
    cross_folder: bool = False,
    not_within: bool = False,
    bursts: bool = False,
    keep: Optional[str] = None,
    keep_from: Iterable[StrPath] = (),
    protect: Iterable[str] = (),
    exclude: Iterable[str] = (),
    extensions: Iterable[str] = (),
    min_size: int = 0,
    hidden: bool = False,
    archives: bool = False,
    digests: bool = False,
    cache: Optional[StrPath] = None,
    progress: Union[bool, Callable[[Progress], object], None] = None,
    run: Optional[Run] = None,
) -> Groups:
    """Find the groups of duplicates among files; nothing is changed. As `doppel scan` does.

    Args:
        paths: files and folders.
        reference: files and folders that are only compared against: their files are kept.
        kinds: of "text", "image", "audio", "video"; None: all.
        schemes: by which kinds are compared; None: the default ones.
        max_distance, min_similarity, max_fp_rate: when files match; None: the defaults.
        parts: images that share a part, too.
        cross_folder: only groups that span two of the paths.
        not_within: no two of one folder.
        bursts: shots of one scene are groups, too; the sharpest is kept.
        keep: which one is kept: "resolution,date", ...; None: the default order.
        keep_from: folders from one of which the one to keep is, where there is one.
        protect: globs of files that are kept, whatever else is in their group.
        exclude, extensions, min_size, hidden: which files there are.
        archives: archives are folders: a.zip!/b/c.jpg; what is in them is only reported.
        digests: members have their digest in `fields`.
        cache: a file that spares reading unchanged files again.
        progress: as of Run.
        run: workers, limits, cache and callbacks; then `cache` and `progress` are not heeded, and
            failures go to its `on_failed`.

    Returns Groups: images first, then texts, audio, videos. Raises ArgumentError, StorageError,
    and what a callback raises. The GIL is released; Ctrl-C ends it.
    """
    failures: list[Error] = []
    run = run if run is not None else Run(cache=cache, progress=progress, on_failed=failures.append)
    options = take_options(
        kinds=kinds, schemes=schemes, max_distance=max_distance, min_similarity=min_similarity,
        max_fp_rate=max_fp_rate, parts=parts, cross_folder=cross_folder, not_within=not_within,
        bursts=bursts, keep=keep, keep_from=keep_from, protect=protect, exclude=exclude,
        extensions=extensions, min_size=min_size, hidden=hidden, archives=archives,
        digests=digests,
    )  # fmt: skip
    first = byte_strings(reference) or ()
    found: list[Group] = []
    counts = _doppel.scan(
        handle_of(run),
        first + (byte_strings(paths) or ()),
        len(first),
        options,
        lambda said: found.append(Group.from_json(json.loads(said))),
    )
    return Groups(found, failures, counts)
