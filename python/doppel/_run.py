"""Runs: workers, limits, cache and callbacks, shared by the calls that are given one."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _doppel
from ._errors import ArgumentError, Error, TypeMismatchError, called, choice, make, share, whole

StrPath = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_SANDBOXES = {"auto": 0, "require": 1, "none": 2}


class Progress(NamedTuple):
    """How far a call is."""

    unit: str  #: what is counted: "files", "pairs"
    done: int
    total: int  #: 0: not known yet


def path_bytes(path: Optional[StrPath]) -> Optional[bytes]:
    """A path as the system has it; a NUL in it is an ArgumentError."""
    if path is None:
        return None
    try:
        encoded = os.fsencode(path)
    except TypeError:
        kind = type(path).__name__
        raise TypeMismatchError(f"a str, bytes or os.PathLike, not a {kind}", "type") from None
    except UnicodeError:
        raise ArgumentError(f"not in the encoding of file names: {path!r:.80}") from None
    if b"\0" in encoded:
        raise ArgumentError("a path cannot have a NUL in it")
    return encoded


def path_text(path: Optional[StrPath]) -> Optional[str]:
    """A path as a str."""
    return None if path is None else os.fsdecode(path)


def _worker() -> Optional[bytes]:
    """The program that decodes: $DOPPEL_WORKER, else beside this file, else where doppel is."""
    named = os.environ.get("DOPPEL_WORKER")
    beside = os.path.join(os.path.dirname(__file__), "doppel-worker")
    return os.fsencode(named) if named else os.fsencode(beside) if os.path.exists(beside) else None


def _bar() -> Callable[[Progress], None]:
    """A bar of tqdm, where that is installed; else nothing is shown."""
    try:
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return lambda progress: None
    bars: dict[str, Any] = {}

    def show(progress: Progress) -> None:
        bar = bars.get(progress.unit)
        if bar is None:
            bar = bars[progress.unit] = tqdm(unit=f" {progress.unit}")
        bar.total = progress.total or None
        bar.update(progress.done - bar.n)

    return show


class Run:
    """Workers, limits, a cache and callbacks for calls of doppel. Any thread may use it.

    Files are decoded by processes of their own: a damaged or hostile one costs no more than itself.

    Args:
        jobs: workers, and threads of a call; 0: one a processor.
        timeout: seconds for a file; of audio and video, for ten seconds of it; 0: none.
        max_memory: bytes of a worker, at least 128 MiB; 0: no limit.
        max_bytes: of a file; 0: 1 GiB of images and texts, else none.
        max_pixels: of an image, or a frame.
        max_seconds: of audio and video; 0: none.
        cache: the file that spares reading unchanged files again; None: none is kept.
        temporary: folder of temporary files; None: /tmp.
        retry: files that could not be read before are tried again.
        sandbox: "auto", "require" (nothing is decoded with less than Landlock and seccomp), "none".
        progress: called with a Progress now and then; True: a bar of tqdm, where that is installed.
        on_failed: called with an Error for each file that cannot be read; the call goes on.
        on_notice: called with a sentence, and the path that it is about or None.

    What a callback raises ends the call, which raises it. Raises ArgumentError.
    """

    def __init__(
        self,
        *,
        jobs: int = 0,
        timeout: float = 60.0,
        max_memory: int = 512 << 20,
        max_bytes: int = 0,
        max_pixels: int = 500_000_000,
        max_seconds: float = 0.0,
        cache: Optional[StrPath] = None,
        temporary: Optional[StrPath] = None,
        retry: bool = False,
        sandbox: str = "auto",
        progress: Union[bool, Callable[[Progress], object], None] = None,
        on_failed: Optional[Callable[[Error], object]] = None,
        on_notice: Optional[Callable[[str, Optional[str]], object]] = None,
    ) -> None:
        show = _bar() if progress is True else None if progress is False else progress
        for name, given in ("progress", show), ("on_failed", on_failed), ("on_notice", on_notice):
            called(name, given)

        def notify(event: str, *told: Any) -> None:
            if event == "progress" and show:
                show(Progress(*told))
            elif event == "failed" and on_failed:
                path, status, message = told
                on_failed(make(status, message, path))
            elif event == "notice" and on_notice:
                on_notice(told[1], os.fsdecode(told[0]) or None)

        self._handle = _doppel.run_new(
            worker=_worker(),
            cache=path_bytes(cache),
            temporary=path_bytes(temporary),
            jobs=whole("jobs", jobs, 65535),
            timeout_ms=round(share("timeout", timeout, 4_000_000) * 1000),
            max_memory=whole("max_memory", max_memory, 2**63 - 1),
            max_bytes=whole("max_bytes", max_bytes, 2**63 - 1),
            max_pixels=whole("max_pixels", max_pixels, 2**63 - 1),
            max_ms=round(share("max_seconds", max_seconds, 4_000_000) * 1000),
            retry=retry is True,
            sandbox=_SANDBOXES[choice("sandbox", sandbox, _SANDBOXES)],
            notify=notify if show or on_failed or on_notice else None,
            progress=show is not None,
            main_thread=threading.main_thread().ident or 0,
        )

    def cancel(self) -> None:
        """End the calls that use the run now, with CancelledError: what is done is kept."""
        _doppel.run_cancel(self._handle)


_lock = threading.Lock()
_default: Optional[Run] = None


def default_run() -> Run:
    """The run of calls that are given none: of this process, with the default limits."""
    global _default
    with _lock:
        if _default is None:
            _default = Run()
        return _default


def _after_fork() -> None:
    """The child has no workers: those are the parent's."""
    global _default, _lock
    _default = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def handle_of(run: Optional[Run]) -> Any:
    """What the extension is given for a run, or for the default one."""
    if run is not None and not isinstance(run, Run):
        raise TypeMismatchError(f"run: a Run is wanted, not a {type(run).__name__}", "type")
    return (default_run() if run is None else run)._handle
