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


def _view_of(code: str) -> Any:
    """A function from a buffer to the numbers in it, which are not copied."""
    if numpy is None:
        return lambda buffer: memoryview(buffer).cast(code)
    # A partial() would be slower by a third: this is on the way of every search.
    return lambda buffer, make=numpy.frombuffer, type=numpy.dtype(_CODES[code]): make(buffer, type)


int64_in, int32_in, uint64_in, uint32_in = map(_view_of, "qiQI")


def rows_in(buffer: bytearray, columns: int, numbers_of: Any = uint64_in) -> Any:
    """The rows of so many numbers in a buffer, which is not copied."""
    flat = numbers_of(buffer)
    if numpy is not None:
        return flat.reshape(-1, columns)
    rows = len(flat) // columns
    return memoryview(buffer).cast(flat.format, (rows, columns)) if rows else flat


def array_of(source: Any) -> Any:
    """What the extension takes: bytes, or numpy's arrays that lie in one piece. What lies so is not
    copied."""
    if isinstance(source, bytes):
        return source
    if numpy is None:
        return _bytes_of(source)
    if isinstance(source, numpy.ndarray):
        flags = source.flags
        if flags.c_contiguous and flags.aligned:
            return source
        return numpy.require(source, None, ("C", "A"))
    try:
        array = numpy.asarray(source)
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(str(error)) from None
    if array.size and (not array.flags.aligned or not _address(array)):
        raise ArgumentError("an aligned array is wanted")  # who made it cannot be relied on
    return numpy.require(array, None, ("C",))


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _bytes_of(source: Any) -> bytes:
    try:
        seen = memoryview(source)
    except TypeError:
        raise TypeMismatchError("an array, or bytes, is wanted", "type") from None
    if seen.itemsize > 1 and seen.format not in ("Q", "q", "L", "l", "<Q", "<q"):
        raise ArgumentError("a buffer of bytes, or of 64-bit numbers, is wanted")
    return bytes(seen)


def _aligned(array: Any) -> Any:
    """Of small numbers that are read as words: they lie where words may."""
    return array if _address(array) % 8 == 0 else array.copy()


def codes_in(source: Any, bits: int) -> Any:
    """Codes as the extension takes them: those of 32 bits are widened to 64."""
    array = array_of(source)
    if bits != 32:
        small = not isinstance(array, bytes) and array.dtype.itemsize == 1
        return _aligned(array) if small else array
    if numpy is None:
        return b"".join(
            array[at : at + 4] + b"\0\0\0\0" for at in range(0, len(array) // 4 * 4, 4)
        )
    if isinstance(array, bytes):
        if len(array) % 4:
            raise ArgumentError("codes of 32 bits are wanted: four bytes each")
        array = numpy.frombuffer(array, dtype="<u4")
    if array.dtype == numpy.uint8 and array.ndim == 2 and array.shape[1] == 4:
        array = array.view("<u4").reshape(-1)
    one_each = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if not one_each or array.dtype not in (numpy.dtype("<u4"), numpy.dtype("<u8")):
        raise ArgumentError("codes of 32 bits are wanted: an array of uint32")
    if array.dtype.itemsize == 8 and array.size and array.max() >= 2**32:
        raise ArgumentError("codes of 32 bits are wanted: one is larger")
    return numpy.ascontiguousarray(array, dtype="<u8").reshape(-1)


def lanes_in(source: Any, lanes: int) -> Any:
    """Signatures of 16-bit lanes as the extension takes them: words of 64 bits, as they lie."""
    array = array_of(source)
    if isinstance(array, bytes):
        return array
    if array.dtype == numpy.dtype("<u2"):
        if array.shape[-1:] != (lanes,) or array.ndim > 2:
            raise ArgumentError(f"signatures: an array of uint16, n x {lanes}, is wanted")
        return _aligned(array).reshape(-1, lanes).view("<u8")
    return array.reshape(-1, lanes // 4) if array.shape == (lanes // 4,) else array


def numbers_in(source: Any, code: str) -> Any:
    """Numbers of 32 bits as the extension takes them; lists are made arrays."""
    if numpy is None:
        raise TypeMismatchError("arrays are numpy's, which is not installed", "type")
    array = array_of(source)
    if isinstance(array, bytes):
        raise TypeMismatchError("an array of numbers is wanted, not bytes", "type")
    if not array.size:
        return array.astype(_CODES[code])
    if isinstance(source, (list, tuple)) and array.dtype.kind in "iu":
        if array.min() < 0 or array.max() >= 2**32:
            raise ArgumentError("a number has at most 32 bits")
        return array.astype(_CODES[code])
    return array
