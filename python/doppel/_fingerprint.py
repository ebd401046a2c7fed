"""Fingerprints: of files, bytes, texts, arrays and recordings; compared, printed, kept."""

from __future__ import annotations

import builtins
import io
import json
import os
from typing import Any, Mapping, NamedTuple, Optional, Union

from . import _doppel
from ._arrays import array_of, numpy, rows_in, uint32_in
from ._errors import ArgumentError, TypeMismatchError, choice, share, whole
from ._match import Match
from ._run import Run, StrPath, handle_of, path_bytes

_TEXT_FORMATS = {"plain": 0, "html": 1, "markdown": 2, "auto": 3}
_HEAD_BYTES = 68  # of to_bytes(), before the content: what the bytes of the file were
_PCM_U8, _PCM_S16, _PCM_S32, _PCM_F32 = 1, 2, 4, 5
_PCM_OF = {"u1": _PCM_U8, "i2": _PCM_S16, "i4": _PCM_S32, "f4": _PCM_F32}


class Scheme(NamedTuple):
    """A way of making fingerprints. Those of different schemes, or versions, never match."""

    name: str
    kind: str
    version: int
    bits: int  #: of a code, as it is printed and compared
    max_distance: int  #: in bits, of MinHash lanes, by default
    summary: str


def schemes() -> list[Scheme]:
    """All schemes, the default one of its kind first."""
    return [Scheme(*scheme) for scheme in _doppel.schemes()]


class Fingerprint:
    """What was computed of a file, a text or an array, by one scheme.

    `a - b` is the distance of two of a scheme in bits, of MinHash in lanes, as imagehash has it.
    Equal ones have equal codes. Fingerprints can be pickled. They are not changed: any thread may
    use them.
    """

    __slots__ = ("_facts", "_record")

    def __init__(self, record: Any) -> None:
        self._record = record
        self._facts: Optional[dict[str, Any]] = None

    @classmethod
    def from_hex(cls, text: str, scheme: str) -> Fingerprint:
        """The fingerprint of one code, as str() prints it. Raises ArgumentError."""
        return cls(_doppel.record_from_hex(scheme, text))

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        """Of what to_bytes() gave. Raises InputError: it is damaged."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeMismatchError("what to_bytes() gave is wanted", "type")
        return cls(_doppel.record_load(bytes(data)))

    def to_bytes(self) -> bytes:
        """All of it, in a form that other versions of the package read, too."""
        return bytes(_doppel.record_dump(self._record))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Fingerprint.from_bytes, (self.to_bytes(),))

    @property
    def facts(self) -> Mapping[str, Any]:
        """What `doppel hash --json` prints: kind, scheme, version, code, size, words, duration."""
        if self._facts is None:
            self._facts = json.loads(_doppel.record_json(self._record, False))
        return self._facts

    @property
    def kind(self) -> str:
        """"text", "image", "audio" or "video"."""
        return str(self.facts["kind"])

    @property
    def scheme(self) -> str:
        """Its name: "phash64", "minhash128", ... (schemes())."""
        return str(self.facts["scheme"])

    @property
    def quality(self) -> Optional[int]:
        """Of an image how much structure there is to tell it by, 0 to 100; None of others."""
        return self.facts.get("quality")

    @property
    def bits(self) -> int:
        """Of a code as it is kept."""
        return int(_doppel.record_codes(self._record)[0])

    @property
    def codes(self) -> Any:
        """All codes: uint64, a row a code, bit i of a code in bit i % 64 of word i // 64.

        Of an image one a view, of audio and video none: those are kept as peaks and frames.
        """
        bits, words, _ = _doppel.record_codes(self._record)
        return rows_in(words, (bits + 63) // 64)

    @property
    def positions(self) -> Any:
        """Of each code: of an image the number of its view, of a passage its place; uint32."""
        return uint32_in(_doppel.record_codes(self._record)[2])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.codes
        return array if dtype is None else array.astype(dtype)

    def __sub__(self, other: Fingerprint) -> int:
        if not isinstance(other, Fingerprint):
            return NotImplemented
        return int(_doppel.record_distance(self._record, other._record))

    def _key(self) -> tuple[Any, ...]:
        bits, words, positions = _doppel.record_codes(self._record)
        content = bytes(words) if words else self.to_bytes()[_HEAD_BYTES:]
        return (self.scheme, self.facts["version"], bits, content, bytes(positions))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self._key() == other._key()

    def __hash__(self) -> int:
        return builtins.hash(self._key())

    def __str__(self) -> str:
        """The code in hexadecimal; of what has many, or none, as repr()."""
        return str(self.facts.get("code") or repr(self))

    def __repr__(self) -> str:
        code = self.facts.get("code", f"{self.facts.get('codes', 0)} codes")
        return f"<doppel.Fingerprint {self.scheme} {code[:32]}>"


def hash(
    source: Any = None,
    *,
    text: Union[str, bytes, None] = None,
    scheme: Optional[str] = None,
    format: str = "plain",
    shingle: int = 5,
    unit: str = "words",
    fast: bool = False,
    audio: bool = True,
    run: Optional[Run] = None,
) -> Fingerprint:
    """Compute the fingerprint of a file, bytes, an image, an array, a recording or a text.

    Args:
        source: a path (str or PathLike); bytes as a file would have them; a file that is open in
            binary mode, read from where it stands; a PIL.Image; an array of uint8, height × width
            or height × width × 1, 3 or 4; or (samples, rate) with an array of float or of uint8,
            int16 or int32, samples or samples × channels.
        text: in place of a source, a text that lies in no file.
        scheme: its name (schemes()); None: the default one of its kind.
        format: of a text: "plain", "html", "markdown", "auto".
        shingle, unit: of a text: how many "words" or "characters" make a shingle.
        fast: of a video, the keyframes alone.
        audio: of a video, its audio, too.
        run: limits and workers; None: the default ones.

    Files and bytes are decoded by other processes, texts and arrays are read here. Images that are
    read from files are upright as EXIF says; arrays are taken as they are.

    Returns a Fingerprint. Raises InputError (what is wrong with the file), NotFoundError,
    ArgumentError, TypeMismatchError. Thread-safe; the GIL is released; Ctrl-C ends it.
    """
    if text is not None:
        if source is not None:
            raise ArgumentError("either a source or a text")
        return _hash_text(text, scheme, format, shingle, unit)
    if isinstance(source, (str, os.PathLike)):
        return _read(run, scheme, path=path_bytes(source), fast=fast, no_audio=not audio)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read(run, scheme, data=bytes(source), fast=fast, no_audio=not audio)
    if isinstance(source, tuple):
        return _hash_samples(source, scheme, run)
    if hasattr(source, "read"):
        return _hash_file(source, scheme, run, fast=fast, no_audio=not audio)
    if hasattr(source, "mode") and hasattr(source, "tobytes"):
        return _hash_picture(source, "phash64" if scheme is None else scheme)
    if hasattr(source, "__array_interface__"):
        named = "phash64" if scheme is None else scheme
        return Fingerprint(_doppel.read_plane(array_of(source), named))
    raise TypeMismatchError(f"no fingerprint can be made of a {type(source).__name__}", "type")


def _read(run: Optional[Run], scheme: Optional[str], **options: Any) -> Fingerprint:
    path, data = options.pop("path", None), options.pop("data", None)
    descriptor = options.pop("descriptor", -1)
    return Fingerprint(_doppel.read(handle_of(run), path, data, descriptor, scheme, **options))


def _hash_text(
    text: Union[str, bytes], scheme: Optional[str], format: str, shingle: int, unit: str
) -> Fingerprint:
    if not isinstance(text, (str, bytes)):
        raise TypeMismatchError(f"a text is a str or bytes, not a {type(text).__name__}", "type")
    plain = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return Fingerprint(
        _doppel.read_text(
            plain,
            "minhash128" if scheme is None else scheme,
            format=_TEXT_FORMATS[choice("format", format, _TEXT_FORMATS)],
            shingle=whole("shingle", shingle, 16, least=1),
            characters=choice("unit", unit, ("words", "characters")) == "characters",
        )
    )


def _hash_file(file: Any, scheme: Optional[str], run: Optional[Run], **options: Any) -> Fingerprint:
    """What has a descriptor is read from that, at the place where the object stands."""
    file = getattr(file, "buffer", file)
    try:
        descriptor = file.fileno()
        os.lseek(descriptor, file.tell(), os.SEEK_SET)
    except (AttributeError, OSError, OverflowError, TypeError, io.UnsupportedOperation):
        data = file.read()
        if not isinstance(data, bytes):
            raise TypeMismatchError("a file is to be open in binary mode", "type") from None
        return _read(run, scheme, data=data, **options)
    return _read(run, scheme, descriptor=descriptor, **options)


def _hash_picture(picture: Any, scheme: str) -> Fingerprint:
    """Of PIL: grey ones and those of colours as they are, others as RGB."""
    if picture.mode not in ("L", "RGB", "RGBA"):
        picture = picture.convert("RGB")
    width, height = picture.size
    if not width or not height:
        raise ArgumentError("an image without pixels has no fingerprint")
    channels = len(picture.getbands())
    return Fingerprint(
        _doppel.read_plane(picture.tobytes(), scheme, height, width, channels)
    )


def _hash_samples(
    source: tuple[Any, ...], scheme: Optional[str], run: Optional[Run]
) -> Fingerprint:
    if len(source) != 2 or not isinstance(source[1], int):
        raise TypeMismatchError("a recording is (samples, rate), the rate an int in Hz", "type")
    samples, rate = source
    if not 1000 <= rate <= 768_000:
        raise ArgumentError("the rate of samples is 1000 to 768000 Hz")
    if numpy is None:
        raise TypeMismatchError("samples are arrays of numpy, which is not installed", "type")
    samples = numpy.asarray(samples)
    if samples.dtype.kind == "f":
        samples = samples.astype("<f4")
        if not numpy.isfinite(samples).all():
            raise ArgumentError("samples: there are NaNs or infinities among them")
    kind = samples.dtype.str.lstrip("<|=")
    if kind not in _PCM_OF or samples.ndim not in (1, 2) or not samples.size:
        raise ArgumentError("samples: floats, uint8, int16 or int32, (n,) or (n, channels)")
    return _read(
        run,
        "peaks32" if scheme is None else scheme,
        data=numpy.ascontiguousarray(samples).tobytes(),
        pcm_format=_PCM_OF[kind],
        pcm_channels=samples.shape[1] if samples.ndim == 2 else 1,
        pcm_rate=rate,
    )


def compare(
    a: Any,
    b: Any,
    *,
    scheme: Optional[str] = None,
    max_distance: Optional[int] = None,
    min_similarity: Optional[float] = None,
    max_fp_rate: Optional[float] = None,
    near_misses: int = 0,
    run: Optional[Run] = None,
) -> Match:
    """Say what `a`, the query, is to `b`, the item.

    Args:
        a, b: fingerprints, or what hash() takes.
        scheme: by which they are hashed, where they are not yet; None: the default ones.
        max_distance: in bits, of MinHash lanes, at which they match; None: the default.
        min_similarity: 0 to 1; None: the default.
        max_fp_rate: of images, audio and videos, the share of unrelated ones that may match.
        near_misses: of audio and videos, the best that many segments below the threshold.

    Returns a Match, which is true if they match. Raises as hash(). Thread-safe.
    """
    first, second = (
        side if isinstance(side, Fingerprint) else hash(side, scheme=scheme, run=run)
        for side in (a, b)
    )
    matches, said = _doppel.compare(
        handle_of(run),
        first._record,
        second._record,
        -1 if max_distance is None else whole("max_distance", max_distance, 2**31 - 1),
        -1.0 if min_similarity is None else share("min_similarity", min_similarity),
        -1.0 if max_fp_rate is None else share("max_fp_rate", max_fp_rate),
        whole("near_misses", near_misses, 1000),
    )
    return Match._of_bytes(said, matches)


def find_passages(a: str, b: str, *, format: str = "plain") -> Match:
    """Find the passages that two texts share, over replaced, inserted and dropped words.

    Args:
        a, b: the texts.
        format: "plain", "html", "markdown", "auto"; places are those in the plain text.

    Returns a Match, whose segments are places in characters: `a[int(s.a_start):int(s.a_end)]`.
    Raises InputError (a text has too few words to share a passage of any length), ArgumentError,
    TypeMismatchError.
    """
    sides = [hash(text=side, scheme="winnow32", format=format) for side in (a, b)]
    return compare(*sides)
