"""What is decided about what comes in: new, a duplicate, a revision, a part."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from ._match import Match


def path_in(said: Mapping[str, Any], key: str = "path") -> Optional[str]:
    """A path in JSON; of one that is not UTF-8 the bytes stand beside it."""
    exact = said.get(f"{key}_base64")
    if exact is not None:
        return os.fsdecode(base64.b64decode(exact))
    return said.get(key)


def match_in(said: Mapping[str, Any]) -> Optional[Match]:
    """The match among the fields of a decision or a member; None: there is none."""
    return Match.from_json(said, matches=True) if "relation" in said else None


@dataclass(frozen=True)
class Decision:
    """What an input is to what came before it. True if it is new.

    `fields` has all that `doppel ingest --json` prints of it (docs/formats.md).
    """

    decision: str  #: "new", "duplicate", "revision", "part", "too_short", "unreadable", ...
    reason: Optional[str]  #: "identical", "same-content", "near", ...; or why it cannot be read
    id: Optional[str]  #: of the record
    path: Optional[str]  #: of the file
    item: Optional[int]  #: in the library; None: it has none
    of: Any  #: what it is a duplicate, part or revision of: an item, or an id; None: nothing
    of_path: Optional[str]
    match: Optional[Match]
    fields: Mapping[str, Any] = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.decision == "new"

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Decision:
        """Of the fields that `doppel --json` prints."""
        return cls(
            decision=said["decision"],
            reason=said.get("reason"),
            id=said.get("id"),
            path=path_in(said),
            item=said.get("item"),
            of=said.get("of_item", said.get("of")),
            of_path=path_in(said, "of_path"),
            match=match_in(said),
            fields=said,
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from ._html import decision_html

        return decision_html(self)
