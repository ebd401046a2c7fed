"""What can go wrong: a small hierarchy, whose sentences say what, where and why."""

from __future__ import annotations

import operator
import os
from typing import Any, Iterable, Iterator, Mapping

__all__ = [
    "ArgumentError",
    "BusyError",
    "CancelledError",
    "Error",
    "InputError",
    "NotFoundError",
    "OutOfMemoryError",
    "StorageError",
    "TypeMismatchError",
    "VersionError",
]


class Error(Exception):
    """What every exception of doppel is.

    Attributes:
        status: a short name: "corrupt", "timeout", "argument", ...
        path: the file or folder that it is about; None: there is none.
    """

    def __init__(self, message: str, status: str = "argument", path: str | None = None) -> None:
        super().__init__(message, status, path)
        self.message = message
        self.status = status
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ArgumentError(Error, ValueError):
    """What was asked for has no meaning."""


class TypeMismatchError(Error, TypeError):
    """An argument is of a type that cannot be used there."""


class InputError(Error):
    """A file, or what it holds, cannot be used: empty, damaged, unknown, over a limit."""


class NotFoundError(Error, LookupError):
    """There is no such file, item, index or library."""


class StorageError(Error):
    """The system refused to read or write, or what is kept on the disk is damaged."""


class VersionError(Error):
    """It was written by another version, or with other options."""


class BusyError(Error):
    """Another process holds the lock."""


class CancelledError(Error):
    """The call was ended early, by Run.cancel() or by a signal in another thread."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for it."""


_CLASSES: dict[str, type[Error]] = {
    "argument": ArgumentError,
    "type": TypeMismatchError,
    "memory": OutOfMemoryError,
    "io": StorageError,
    "no-space": StorageError,
    "not-found": NotFoundError,
    "version": VersionError,
    "busy": BusyError,
    "cancelled": CancelledError,
}


def make(status: str, message: str, path: bytes | str = b"") -> Error:
    """The exception of a status of the engine; of those without a class it is an InputError."""
    return _CLASSES.get(status, InputError)(message, status, os.fsdecode(path) if path else None)


def whole(name: str, value: Any, most: int, least: int = 0) -> int:
    """An argument that is a whole number, also one of numpy."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeMismatchError(f"{name}: a whole number is wanted", "type") from None
    if not least <= number <= most:
        raise ArgumentError(f"{name}: {least} to {most}")
    return number


def share(name: str, value: Any, most: float = 1.0) -> float:
    """An argument that is a number from 0 on, and no NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeMismatchError(f"{name}: a number is wanted", "type") from None
    if not 0 <= number <= most:
        raise ArgumentError(f"{name}: 0 to {most:g}")
    return number


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """An argument that is one of some words."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(f"{name}: one of {', '.join(known)}")
    return value


def each_of(name: str, value: Any) -> Iterator[Any]:
    """An argument that is to be iterated over, and is no string."""
    try:
        if not isinstance(value, (str, bytes, Mapping)):
            return iter(value)
    except TypeError:
        pass
    kind = type(value).__name__
    raise TypeMismatchError(f"{name}: an iterable is wanted, not a {kind}", "type")


def called(name: str, value: Any) -> Any:
    """An argument that is called, or None."""
    if value is not None and not callable(value):
        raise TypeMismatchError(f"{name}: what can be called is wanted", "type")
    return value
