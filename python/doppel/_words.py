"""Words in which two files of text differ, for notebooks."""

from __future__ import annotations

import difflib
import html
import re
from typing import Optional

_MOST_BYTES, _MOST_WORDS, _MOST_CHANGES, _AROUND, _MOST_SHOWN = 65536, 4000, 5, 4, 20
_GONE = "background:#f8d0d0;color:#600"
_CAME = "background:#d0f0d0;color:#040"


def _words_of(path: str) -> list[str]:
    """The first words of a file; of HTML without its tags."""
    with open(path, "rb") as file:
        text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    if text.lstrip().startswith("<"):
        text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", text)
        text = html.unescape(text)
    return text.split()[:_MOST_WORDS]


def _shown(words: list[str], style: str = "", tag: str = "span") -> str:
    if not words:
        return ""
    if len(words) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        words = [*words[:half], "…", *words[-half:]]
    text = html.escape(" ".join(words))
    return f'<{tag} style="{style};text-decoration:none">{text}</{tag}>' if style else text


def difference_html(item: Optional[str], query: Optional[str]) -> str:
    """What the query has in place of the item's words: the first changes, with some words around
    them. Nothing, where a file cannot be read."""
    try:
        first, second = _words_of(item or ""), _words_of(query or "")
    except OSError:
        return ""
    codes = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    changes = [code for code in codes if code[0] != "equal"]
    parts = []
    for _, a, a_end, b, b_end in changes[:_MOST_CHANGES]:
        before, after = first[max(a - _AROUND, 0) : a], first[a_end : a_end + _AROUND]
        gone, came = _shown(first[a:a_end], _GONE, "del"), _shown(second[b:b_end], _CAME, "ins")
        words = [_shown(before), gone, came, _shown(after)]
        parts.append("… " + " ".join(word for word in words if word) + " …")
    if len(changes) > _MOST_CHANGES:
        parts.append(f"and {len(changes) - _MOST_CHANGES} more changes")
    return "".join(f"<div>{part}</div>" for part in parts)
