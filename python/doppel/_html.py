"""What notebooks show: groups side by side, matches as bars in time, decisions."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._decision import Decision
    from ._groups import Group, Groups, Member
    from ._match import Match, Place

_MOST_GROUPS, _MOST_MEMBERS, _SIDE = 20, 12, 160
_CARD = "display:inline-block;vertical-align:top;margin:4px;padding:4px;max-width:170px;"
_CARD += "border:1px solid #ccc;border-radius:4px;overflow-wrap:anywhere;font-size:12px"


def _thumbnail(path: Optional[str]) -> str:
    """A picture as a small JPEG within the page; of what Pillow cannot read, nothing."""
    try:
        from PIL import Image

        with Image.open(path or "") as picture:
            picture.thumbnail((_SIDE, _SIDE))
            out = io.BytesIO()
            picture.convert("RGB").save(out, "JPEG", quality=80)
    except Exception:  # a notebook shows what it can
        return ""
    data = base64.b64encode(out.getvalue()).decode()
    return f'<img src="data:image/jpeg;base64,{data}" alt="">'


def _size(size: Optional[int]) -> str:
    if size is None:
        return ""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _member_html(member: Member, kind: str) -> str:
    picture = _thumbnail(member.path) if kind == "image" else ""
    similarity = member.match.similarity if member.match else None
    said = [f"<b>{html.escape(member.reason)}</b>", _size(member.size)]
    said += [f"{similarity:.0%}" if similarity is not None else ""]
    name = html.escape((member.path or str(member.id or "")).rsplit("/", 1)[-1])
    timeline = match_html(member.match) if member.match and member.match.segments else ""
    line = " · ".join(word for word in said if word)
    title = html.escape(member.path or "")
    return f'<div style="{_CARD}" title="{title}">{picture}<div>{name}</div>{line}{timeline}</div>'


def group_html(group: Group) -> str:
    """A group: the one to keep first."""
    cards = "".join(_member_html(member, group.kind) for member in group.members[:_MOST_MEMBERS])
    more = len(group.members) - _MOST_MEMBERS
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    head = f"{group.number} · {html.escape(group.kind)} · {_size(group.savable)} could be saved"
    return f"<div><div>{head}</div>{cards}{rest}</div>"


def groups_html(groups: Groups) -> str:
    """The first groups, and how many there are."""
    shown = "".join(group_html(group) for group in groups[:_MOST_GROUPS])
    more = len(groups) - _MOST_GROUPS
    rest = f"<div>and {more} more groups</div>" if more > 0 else ""
    failed = f"<div>{len(groups.failures)} files could not be read</div>" if groups.failures else ""
    return f"<div><b>{html.escape(repr(groups))}</b>{shown}{rest}{failed}</div>"


def _bar(start: float, end: float, whole: float, colour: str) -> str:
    left, width = 100 * start / whole, max(100 * (end - start) / whole, 0.5)
    style = f"position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:8px;background:{colour}"
    return f'<div style="{style}"></div>'


def _outline(place: Place) -> str:
    """A square for the picture, and in it what the other one shows, too."""
    width, height = place.right - place.left, place.bottom - place.top
    inner = f"position:absolute;left:{place.left:.1%};top:{place.top:.1%};width:{width:.1%};"
    inner += f"height:{height:.1%};background:#36c8;transform:rotate({place.angle:.1f}deg)"
    outer = "position:relative;display:inline-block;width:60px;height:60px;margin:2px;"
    outer += "background:#eee;overflow:hidden"
    return f'<div style="{outer}"><div style="{inner}"></div></div>'


def match_html(match: Match) -> str:
    """Segments as bars: where in the query, and below where in the item."""
    rows = []
    for colour, ends in (
        ("#36c", [(segment.a_start, segment.a_end) for segment in match.segments]),
        ("#c63", [(segment.b_start, segment.b_end) for segment in match.segments]),
    ):
        whole = max((end for _, end in ends), default=0) or 1
        bars = "".join(_bar(start, end, whole, colour) for start, end in ends)
        rows.append(f'<div style="position:relative;height:10px;background:#eee">{bars}</div>')
    head = f"{match.relation or 'no match'}"
    if match.similarity is not None:
        head += f", {match.similarity:.0%}"
    timeline = "".join(rows) if match.segments else ""
    if match.where:
        timeline += "<div>" + "".join(map(_outline, match.where)) + "</div>"
    return f'<div style="max-width:400px">{html.escape(head)}{timeline}</div>'


def decision_html(decision: Decision) -> str:
    """What it is, of what and why."""
    of = "" if decision.of is None else f" of {html.escape(str(decision.of_path or decision.of))}"
    why = f" ({html.escape(decision.reason)})" if decision.reason else ""
    match = match_html(decision.match) if decision.match else ""
    return f"<div><b>{html.escape(decision.decision)}</b>{of}{why}{match}</div>"
