"""In place of the package imagehash: the same codes, by doppel's decoders.

    from doppel import imagehash
    imagehash.phash("a.jpg") - imagehash.phash("b.jpg")
"""

from __future__ import annotations

from typing import Any, Optional

from ._fingerprint import Fingerprint, hash
from ._run import Run

__all__ = ["hex_to_hash", "phash"]


def phash(image: Any, *, run: Optional[Run] = None) -> Fingerprint:
    """The perceptual hash of an image, bit for bit as imagehash.phash() has it at its defaults.

    Args:
        image: what doppel.hash() takes. A PIL.Image gives the same bits as imagehash does; of a
            file the decoder is doppel's, whose pixels may differ in the last bits.
    """
    return hash(image, scheme="imagehash", run=run)


def hex_to_hash(text: str) -> Fingerprint:
    """Of what str() prints of a hash, here or in imagehash. Raises ArgumentError."""
    return Fingerprint.from_hex(text, "imagehash")
