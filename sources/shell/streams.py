"""Standard output and standard error as a command meets them: closed, full, or with nobody reading.

An answer and the exit status never depend on standard error: what cannot be said there is left
unsaid. Standard output is the answer itself: one that cannot be written is `NotWritten`, once.
"""
from __future__ import annotations

import contextlib
import os
from typing import TextIO, cast


class NotWritten(Exception):
    """Standard output does not take the answer; `unread` where its reader went away (`| head`)."""

    def __init__(self, error: OSError | ValueError) -> None:
        super().__init__(getattr(error, "strerror", None) or str(error))
        self.unread = isinstance(error, BrokenPipeError)


class _Guarded:
    """A text stream, as far as a command uses one; what a failed write means is its subclass's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError) as error:  # ValueError: closed from within this process
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def _fail(self, error: OSError | ValueError) -> None:
        """What is still buffered must not fail again when the process ends."""
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class _Answer(_Guarded):
    def _fail(self, error: OSError | ValueError) -> None:
        super()._fail(error)
        raise NotWritten(error) from error


def answering(stream: TextIO | None) -> TextIO:
    """Standard output. Raises NotWritten where the process was started without one."""
    if stream is None:
        raise NotWritten(ValueError("it is closed"))
    as_utf8(stream)
    return cast(TextIO, _Answer(stream))


def aside(stream: TextIO | None) -> TextIO:
    """Standard error; where the process was started without one, its number is taken by nothing
    that a library's own complaint could spoil."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    as_utf8(stream)
    return cast(TextIO, _Guarded(stream))


def as_utf8(stream: TextIO) -> None:
    """UTF-8 whatever the locale says, and line ends as written: tables have their own."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="")
