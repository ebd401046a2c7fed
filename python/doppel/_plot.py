"""Drawings of matches, by matplotlib: segments in time or text, and outlines in pictures."""

from __future__ import annotations

import math
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Iterable

from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._match import Match, Place

_GAP = 0.1  # between the two pictures, in heights of them
_COLOURS = ("tab:blue", "tab:orange")


def draw(match: Match, axes: Any, pictures: Iterable[Any]) -> Any:
    """What Match.plot() does."""
    if not match.segments and not match.where:
        raise ArgumentError("there is nothing to draw: the match has no segments and no `where`")
    if axes is None:
        axes = _new_axes()
    if match.where:
        _draw_outlines(match, axes, pictures)
    else:
        _draw_timeline(match, axes)
    return axes


def _new_axes() -> Any:
    return import_module("matplotlib.pyplot").subplots(figsize=(7, 2.5), layout="constrained")[1]


def _draw_timeline(match: Match, axes: Any) -> None:
    """Two bars, the query above, and bands from where one shows it to where the other does."""
    for y, length, colour in zip((1.0, 0.0), match.lengths, _COLOURS):
        axes.barh(y, length, height=0.3, color=colour, alpha=0.3)
    for segment in match.segments:
        for y, start, end, colour in (
            (1.0, segment.a_start, segment.a_end, _COLOURS[0]),
            (0.0, segment.b_start, segment.b_end, _COLOURS[1]),
        ):
            axes.barh(y, end - start, left=start, height=0.3, color=colour)
        x = (segment.a_start, segment.a_end, segment.b_end, segment.b_start)
        axes.fill(x, (0.85, 0.85, 0.15, 0.15), color="tab:gray", alpha=0.25)
    axes.set_yticks((1.0, 0.0), ("query", "item"))
    axes.set_xlim(0, max(match.lengths))
    axes.set_xlabel("characters" if match.kind == "text" else "seconds")


def _draw_outlines(match: Match, axes: Any, pictures: Iterable[Any]) -> None:
    """The two pictures side by side, and in each the outline of what both show."""
    left, shown = 0.0, [*pictures, None, None]
    for place, picture, name in zip(match.where or (), shown, ("query", "item")):
        aspect = 1.0
        if picture is not None:
            pixels = _pixels(picture)
            aspect = pixels.shape[1] / pixels.shape[0]
            axes.imshow(pixels, extent=(left, left + aspect, 1, 0))
        else:
            axes.fill(*_box(left, aspect), color="whitesmoke")
        axes.plot(*_outline(place, left, aspect), color="tab:red", clip_on=False)
        axes.text(left + aspect / 2, -0.03, name, ha="center", va="bottom")
        left += aspect + _GAP
    axes.set_xlim(0, left - _GAP)
    axes.set_ylim(1, 0)
    axes.set_aspect("equal")
    axes.axis("off")


def _pixels(picture: Any) -> Any:
    """An array of what is a path, a PIL.Image or an array; files are upright as EXIF says."""
    if isinstance(picture, (str, bytes, os.PathLike)):
        pil = import_module("PIL.Image")
        with pil.open(os.fsdecode(picture)) as opened:
            picture = import_module("PIL.ImageOps").exif_transpose(opened).convert("RGB")
    return import_module("numpy").asarray(picture)


def _box(left: float, aspect: float) -> tuple[list[float], list[float]]:
    return [left, left + aspect, left + aspect, left], [0, 0, 1, 1]


def _outline(place: Place, left: float, aspect: float) -> tuple[list[float], list[float]]:
    """The corners of a rectangle that is turned about its middle, the first one twice."""
    middle = (place.left + place.right) / 2 * aspect, (place.top + place.bottom) / 2
    half = (place.right - place.left) / 2 * aspect, (place.bottom - place.top) / 2
    cosine, sine = math.cos(math.radians(place.angle)), math.sin(math.radians(place.angle))
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    turned = [
        (
            left + middle[0] + x * half[0] * cosine - y * half[1] * sine,
            middle[1] + x * half[0] * sine + y * half[1] * cosine,
        )
        for x, y in corners
    ]
    return [x for x, _ in turned], [y for _, y in turned]
