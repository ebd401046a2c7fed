"""What two fingerprints are to each other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple, Optional


@dataclass(frozen=True)
class Segment:
    """What `a`, the query, and `b`, the item, share: of texts characters, else seconds."""

    a_start: float
    a_end: float
    b_start: float
    b_end: float
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Segment:
        """Of the fields that `doppel --json` prints."""
        return cls(said["a_start"], said["a_end"], said["b_start"], said["b_end"], said)


@dataclass(frozen=True)
class Place:
    """A rectangle in a picture: shares of its width and height, turned about the middle."""

    left: float  #: 0 to 1, and beyond where it is turned
    top: float
    right: float
    bottom: float
    angle: float  #: degrees clockwise


class Where(NamedTuple):
    """Where two pictures show the same."""

    query: Place
    item: Place

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Where:
        """Of the field `where` that `doppel --json` prints."""
        return cls(Place(**said["query"]), Place(**said["item"]))


@dataclass(frozen=True)
class Match:
    """How near two fingerprints are, and whether that is a match: true if it is.

    `fields` has all that `doppel compare --json` prints of it (docs/formats.md).
    """

    matches: bool
    kind: Optional[str]  #: "text", "image", "audio", "video"
    scheme: Optional[str]
    relation: Optional[str]  #: "same", "contained", "contains", "overlaps"; of
    #: recordings "shared": others in which the same is heard for a while, as a loop is; of images
    #: in groups "burst": another shot of one scene
    similarity: Optional[float]  #: 1: the same; about 0: unrelated
    distance: Optional[int]  #: bits that differ, of MinHash lanes
    bits: Optional[int]  #: how many there are
    false_positive_rate: Optional[float]  #: share of unrelated files that come as near
    query_coverage: Optional[float]  #: share of the query that is in the item
    item_coverage: Optional[float]
    segments: tuple[Segment, ...]
    where: Optional[Where]  #: of images that were compared by their parts: what both show
    reason: Optional[str]  #: why near fingerprints are no match, or cannot be compared
    fields: Mapping[str, Any] = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.matches

    def _repr_html_(self) -> str:
        """For notebooks: where in time, or in the texts, they are the same."""
        from ._html import match_html

        return match_html(self)

    @property
    def lengths(self) -> tuple[float, float]:
        """How long query and item are, by the share of each that the segments cover: seconds, of
        texts characters. At least to the end of the last segment."""
        return (
            _length([(s.a_start, s.a_end) for s in self.segments], self.query_coverage),
            _length([(s.b_start, s.b_end) for s in self.segments], self.item_coverage),
        )

    def plot(self, *pictures: Any, axes: Any = None) -> Any:
        """Draw where the two are the same, by matplotlib, which has to be installed.

        Segments are drawn as bars, the query above the item, with bands between them; where in two
        pictures the same is shown (`where`), as outlines.

        Args:
            pictures: what lies behind outlines: the query and the item, as paths, PIL.Images or
                arrays; paths take Pillow.
            axes: of matplotlib; None: new ones, of a figure of pyplot.

        Returns the axes. Raises ArgumentError: the match has neither segments nor `where`.
        """
        from ._plot import draw

        return draw(self, axes, pictures)

    @classmethod
    def _of_bytes(cls, said: bytes, matches: bool) -> Match:
        """Of JSON, which is read when more of it is wanted than whether they match."""
        made = cls.__new__(cls)
        made.__dict__.update(matches=matches, _said=said)
        return made

    def __getattr__(self, name: str) -> Any:
        said = self.__dict__.get("_said")
        if said is None or name not in Match.__dataclass_fields__:
            raise AttributeError(name)
        self.__dict__.update(Match.from_json(json.loads(said), self.matches).__dict__)
        return self.__dict__[name]

    @classmethod
    def from_json(cls, said: Mapping[str, Any], matches: Optional[bool] = None) -> Match:
        """Of the fields that `doppel --json` prints; what is found matches."""
        return cls(
            matches=bool(said.get("match", True)) if matches is None else matches,
            kind=said.get("kind"),
            scheme=said.get("scheme"),
            relation=said.get("relation"),
            similarity=said.get("similarity"),
            distance=said.get("distance"),
            bits=said.get("bits"),
            false_positive_rate=said.get("false_positive_rate"),
            query_coverage=said.get("query_coverage"),
            item_coverage=said.get("item_coverage"),
            segments=tuple(map(Segment.from_json, said.get("segments", ()))),
            where=Where.from_json(said["where"]) if "where" in said else None,
            reason=said.get("reason"),
            fields=said,
        )


def _length(spans: list[tuple[float, float]], coverage: Optional[float]) -> float:
    covered = last = 0.0
    for start, end in sorted(spans):
        covered += max(end - max(start, last), 0.0)
        last = max(last, end)
    return max(last, covered / coverage) if coverage else last
