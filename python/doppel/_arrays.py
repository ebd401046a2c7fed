"""Arrays in and out: numpy's where it is there, else memoryviews."""

from __future__ import annotations

from typing import Any

from ._errors import ArgumentError, TypeMismatchError

numpy: Any = None  # every array is a memoryview then
try:
    import numpy
except ImportError:
    pass

_CODES = {"q": "<i8", "i": "<i4", "Q": "<u8", "I": "<u4"}
_TYPES = {code: numpy.dtype(name) for code, name in _CODES.items()} if numpy else {}


def view(buffer: bytearray, code: str, columns: int = 0) -> Any:
    """The numbers in a buffer, which is not copied; rows of `columns`, where that is not 0."""
    if numpy is None:
        flat = memoryview(buffer).cast(code)
        size = memoryview(buffer).nbytes
        rows = size // flat.itemsize // columns if columns else 0
        return memoryview(buffer).cast(code, (rows, columns)) if rows else flat
    array = numpy.frombuffer(buffer, _TYPES[code])
    return array.reshape(-1, columns) if columns else array


def _plain(source: Any) -> Any:
    """What has no array interface as bytes; else as it is, in one piece."""
    if isinstance(source, bytes):
        return source
    if numpy is not None and isinstance(source, numpy.ndarray):
        return source if source.flags.c_contiguous else numpy.ascontiguousarray(source)
    interface = getattr(source, "__array_interface__", None)
    if interface is None:
        try:
            seen = memoryview(source)
        except TypeError:
            if numpy is None:
                raise TypeMismatchError("an array, or bytes, is wanted", "type") from None
            return numpy.asarray(source)
        if seen.itemsize > 1 and seen.format not in ("Q", "q", "L", "l", "<Q", "<q"):
            raise ArgumentError("a buffer of bytes, or of 64-bit numbers, is wanted")
        return bytes(seen)
    if interface.get("strides") is not None and numpy is not None:
        return numpy.ascontiguousarray(source)
    return source


def codes_in(source: Any, bits: int) -> Any:
    """Codes as the extension takes them: those of 32 bits are widened to 64."""
    array = _plain(source)
    if bits != 32:
        return array
    if numpy is None:
        return b"".join(
            array[at : at + 4] + b"\0\0\0\0" for at in range(0, len(array) // 4 * 4, 4)
        )
    if isinstance(array, bytes):
        array = numpy.frombuffer(array, dtype="<u4")
    if array.dtype == numpy.uint8 and array.ndim == 2 and array.shape[1] == 4:
        array = array.view("<u4").reshape(-1)
    if array.dtype not in (numpy.dtype("<u4"), numpy.dtype("<u8")):
        raise ArgumentError("codes of 32 bits are wanted: an array of uint32")
    return numpy.ascontiguousarray(array, dtype="<u8").reshape(-1)


def lanes_in(source: Any, lanes: int) -> Any:
    """Signatures of 16-bit lanes as the extension takes them: words of 64 bits, as they lie."""
    array = _plain(source)
    if numpy is None or isinstance(array, bytes) or not hasattr(array, "dtype"):
        return array
    if array.dtype == numpy.dtype("<u2"):
        if array.shape[-1:] != (lanes,) or array.ndim > 2:
            raise ArgumentError(f"signatures: an array of uint16, n x {lanes}, is wanted")
        return array.reshape(-1, lanes).view("<u8")
    return array.reshape(-1, lanes // 4) if array.shape == (lanes // 4,) else array


def numbers_in(source: Any, code: str) -> Any:
    """Numbers of 32 bits as the extension takes them; lists are made arrays."""
    if numpy is None:
        raise TypeMismatchError("arrays are numpy's, which is not installed", "type")
    try:
        array = numpy.asarray(source)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    if not array.size:
        array = array.astype(_CODES[code])
    elif isinstance(source, (list, tuple)) and array.dtype.kind in "iu":
        if array.min() < 0 or array.max() >= 2**32:
            raise ArgumentError("a number has at most 32 bits")
        array = array.astype(_CODES[code])
    return numpy.ascontiguousarray(array)


def ids_in(source: Any) -> Any:
    """Ids as the extension takes them: int64 or uint64."""
    array = _plain(source)
    if isinstance(array, bytes):
        if numpy is not None:
            return numpy.frombuffer(array, dtype="<i8")
        return _Numbers(bytearray(array))
    return array


class _Numbers:
    """64-bit numbers with an array interface, where numpy is not there."""

    def __init__(self, buffer: bytearray) -> None:
        import ctypes

        self._buffer = buffer
        self._held = (ctypes.c_char * len(buffer)).from_buffer(buffer) if buffer else None
        address = ctypes.addressof(self._held) if self._held else 0
        self.__array_interface__ = {
            "version": 3,
            "typestr": "<i8",
            "shape": (len(buffer) // 8,),
            "data": (address, True),
        }
