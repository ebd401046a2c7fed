"""What notebooks show: groups side by side, matches as bars in time, decisions."""

from __future__ import annotations

import base64
import html
import io
from importlib import import_module
from typing import TYPE_CHECKING, Optional

from ._words import difference_html

if TYPE_CHECKING:
    from ._decision import Decision
    from ._groups import Group, Groups, Member
    from ._match import Match, Place

_MOST_GROUPS, _MOST_MEMBERS, _MOST_SEGMENTS, _SIDE = 20, 12, 5, 160
_CARD = "display:inline-block;vertical-align:top;margin:4px;padding:4px;"
_CARD += "border:1px solid #ccc;border-radius:4px;overflow-wrap:anywhere;font-size:12px"
_COLOURS = ("#36c", "#c63")  # of the query, of the item


def _thumbnail(path: Optional[str], place: Optional[Place] = None) -> str:
    """A picture as a small JPEG within the page, and an outline in it; of what Pillow cannot read,
    nothing."""
    try:
        with import_module("PIL.Image").open(path or "") as picture:
            picture.draft("RGB", (2 * _SIDE, 2 * _SIDE))
            upright = import_module("PIL.ImageOps").exif_transpose(picture)
            upright.thumbnail((_SIDE, _SIDE))
            out = io.BytesIO()
            upright.convert("RGB").save(out, "JPEG", quality=80)
    except Exception:  # a notebook shows what it can
        return ""
    data = base64.b64encode(out.getvalue()).decode()
    image = f'<img src="data:image/jpeg;base64,{data}" alt="" style="display:block;margin:0">'
    outer = "position:relative;display:inline-block;overflow:hidden;margin:2px;vertical-align:top"
    return f'<div style="{outer}">{image}{_outline(place) if place else ""}</div>'


def _outline(place: Place) -> str:
    """What the other picture shows, too."""
    width, height = place.right - place.left, place.bottom - place.top
    style = f"position:absolute;left:{place.left:.1%};top:{place.top:.1%};width:{width:.1%};"
    style += f"height:{height:.1%};border:2px solid red;box-sizing:border-box;"
    style += f"transform:rotate({place.angle:.1f}deg)"
    return f'<div style="{style}"></div>'


def _size(size: Optional[int]) -> str:
    if size is None:
        return ""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _member_html(member: Member, group: Group) -> str:
    match = member.match
    first = group.members[0]
    picture, differing = "", ""
    if group.kind == "image":
        where = match.where if match else None
        picture = _thumbnail(member.path, where.query if where else None)
        picture += _thumbnail(first.path, where.item) if where else ""
    elif group.kind == "text" and member.reason == "near":
        differing = difference_html(first.path, member.path)
    said = [f"<b>{html.escape(member.reason)}</b>", _size(member.size)]
    said += [f"{match.similarity:.0%}" if match and match.similarity is not None else ""]
    name = html.escape((member.path or str(member.id or "")).rsplit("/", 1)[-1])
    timeline = _timeline(match) if match and match.segments else ""
    line = " · ".join(word for word in said if word)
    width = 500 if differing else 350 if picture.count("<img") > 1 or timeline else 170
    head = f'<div style="{_CARD};max-width:{width}px" title="{html.escape(member.path or "")}">'
    return f"{head}{picture}<div>{name}</div>{line}{timeline}{differing}</div>"


def group_html(group: Group) -> str:
    """A group: the one to keep first."""
    cards = "".join(_member_html(member, group) for member in group.members[:_MOST_MEMBERS])
    more = len(group.members) - _MOST_MEMBERS
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    head = f"{group.number} · {html.escape(group.kind)} · {_size(group.savable)} could be saved"
    return f"<div><div>{head}</div>{cards}{rest}</div>"


def groups_html(groups: Groups) -> str:
    """The first groups, and how many there are."""
    shown = "".join(group_html(group) for group in groups[:_MOST_GROUPS])
    more = len(groups) - _MOST_GROUPS
    rest = f"<div>and {_count(more, 'more group')}</div>" if more > 0 else ""
    failed = len(groups.failures)
    rest += f"<div>{_count(failed, 'file')} could not be read</div>" if failed else ""
    return f"<div><b>{html.escape(repr(groups))}</b>{shown}{rest}</div>"


def _bar(start: float, end: float, whole: float, colour: str) -> str:
    left, width = 100 * start / whole, max(100 * (end - start) / whole, 0.5)
    style = f"position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:8px;background:{colour}"
    return f'<div style="{style}"></div>'


def _timeline(match: Match) -> str:
    """Segments as bars: where in the query, and below where in the item; and in numbers."""
    rows = []
    for colour, whole, ends in zip(
        _COLOURS,
        match.lengths,
        (
            [(segment.a_start, segment.a_end) for segment in match.segments],
            [(segment.b_start, segment.b_end) for segment in match.segments],
        ),
    ):
        bars = "".join(_bar(start, end, whole or 1, colour) for start, end in ends)
        style = "position:relative;height:8px;margin:2px 0;background:#8883"
        rows.append(f'<div style="{style}">{bars}</div>')
    for segment in match.segments[:_MOST_SEGMENTS]:
        query = _span(match, segment.a_start, segment.a_end)
        item = _span(match, segment.b_start, segment.b_end)
        spans = f'<span style="color:{_COLOURS[0]}">{query}</span> of the query is '
        rows.append(f'<div>{spans}<span style="color:{_COLOURS[1]}">{item}</span></div>')
    more = len(match.segments) - _MOST_SEGMENTS
    rows.append(f"<div>and {_count(more, 'more segment')}</div>" if more > 0 else "")
    return "".join(rows)


def _span(match: Match, start: float, end: float) -> str:
    if match.kind == "text":
        return f"{start:.0f}–{end:.0f}"
    return f"{_clock(start)}–{_clock(end)}"


def _clock(seconds: float) -> str:
    tenths = round(seconds * 10)
    hours, minutes = tenths // 36000, tenths // 600 % 60
    clock = f"{minutes}:{tenths % 600 / 10:04.1f}"
    return f"{hours}:{clock:0>7}" if hours else clock


def match_html(match: Match, query: Optional[str] = None, item: Optional[str] = None) -> str:
    """What two are to each other; by their files, where those are known, what they look like."""
    head = match.relation or "no match"
    if match.similarity is not None:
        head += f", {match.similarity:.0%}"
    where = match.where
    shown = _timeline(match) if match.segments else ""
    if match.kind == "image" and (query or item):
        shown += _thumbnail(query, where.query if where else None)
        shown += _thumbnail(item, where.item if where else None)
    elif match.kind == "text" and query and item:
        shown += difference_html(item, query)
    elif where:
        outer = "position:relative;display:inline-block;width:60px;height:60px;margin:2px;"
        outer += "background:#8883;overflow:hidden"
        shown += "".join(f'<div style="{outer}">{_outline(place)}</div>' for place in where)
    return f'<div style="max-width:500px"><div>{html.escape(head)}</div>{shown}</div>'


def decision_html(decision: Decision) -> str:
    """What it is, of what and why."""
    what = decision.path or decision.id
    what = f" {html.escape(what)}" if what else ""
    of = "" if decision.of is None else f" of {html.escape(str(decision.of_path or decision.of))}"
    why = f" ({html.escape(decision.reason)})" if decision.reason else ""
    match = decision.match
    shown = match_html(match, decision.path, decision.of_path) if match else ""
    return f"<div>{what}: <b>{html.escape(decision.decision)}</b>{of}{why}{shown}</div>"
