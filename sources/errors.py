"""The six ways a question can fail, one class each.

An error says whose fault it is, whether asking again can help, and what to do. Its `code` is one of
the six that a reader of an answer meets; nothing else is ever published as a code.
"""
from __future__ import annotations

from typing import ClassVar

from .settings import PROJECT_URL

LIBRARIES = ("requests", "lxml", "jsonschema")  # what this program needs beside Python itself
_OWN = ("mcp_books", "sources", "schemas")

# Finer words under the six codes, for programs: once published, one keeps its meaning.
_FINER = {
    "not_found": "no_such_page",
    "invalid_input": "unknown_argument missing_argument unreadable_value no_word contradiction "
    "arguments_too_large unreadable_identifier ambiguous_identifier "
    "not_offered query_refused report_step",
    "rate_limited": "asked_to_wait lane_silent queue_full server_busy",
    "parse_failure": "other_shape cut_short answer_too_large unreadable_rows "
    "unreadable_kept_answer",
    "network_error": "challenge refused_by_site server_error broke_off certificate "
    "redirected_elsewhere could_not_search route_gone not_on_the_shelf",
    "timeout": "no_answer_in_time budget_spent still_searching",
}
# Each reason and its code; a code is a reason too, where nothing finer is known.
REASONS = {reason: code for code, finer in _FINER.items() for reason in (code, *finer.split())}


class SourceError(Exception):
    """A question that an archive, the network or this client could not answer.

    `message` is one sentence a reader can act on, without addresses of this machine; `hint` says
    the next step; `archive` is the archive's key, or None when no archive is to blame; `status` the
    HTTP status, when one came; `retry_after_s` the seconds after which asking again makes sense,
    None when nobody said; `stage` is "read" once a search had been answered; `reason` a word of
    REASONS, the code where no finer one was given.
    """

    code: str = "network_error"
    usual_hint: ClassVar[str] = (
        "Ask again in a minute; nothing was learnt about what the archive holds."
    )
    retryable: bool = False  # as a kind; one error may say otherwise of itself

    def __init__(
        self,
        message: str,
        *,
        archive: str | None = None,
        hint: str | None = None,
        status: int | None = None,
        retry_after_s: float | None = None,
        stage: str | None = None,
        reason: str | None = None,
    ) -> None:
        # an archive's name may come first
        sentence = "The " + message[4:] if message.startswith("the ") else message
        super().__init__(sentence)
        self.message = sentence
        self.archive = archive
        self.hint = hint or self.usual_hint
        self.status = status
        self.retry_after_s = retry_after_s
        self.stage = stage
        self._reason = reason

    @property
    def reason(self) -> str:
        return self._reason or self.code

    @property
    def passing(self) -> bool:
        """Whether the same question may be answered another time, by nature of the code;
        `retryable` is about at once."""
        return self.code not in ("not_found", "invalid_input")


class RecordNotFound(SourceError):
    """The archive answered, and holds no such record."""

    code = "not_found"
    usual_hint = "Check the identifier, or find the record with search_items."


class InvalidInput(SourceError):
    """The arguments could not produce a request, or the archive refuses this query for good."""

    code = "invalid_input"
    usual_hint = "Change the named argument and ask again."


class RateLimited(SourceError):
    """The archive asked this client to slow down, or this server's own queue is too long. The
    record may well exist."""

    code = "rate_limited"
    usual_hint = "Wait as long as stated, then ask again; the record may well exist."


class UnreadableAnswer(SourceError):
    """An answer arrived in a shape this client cannot read. Never an absence."""

    code = "parse_failure"
    usual_hint = (
        "The archive may have changed how it answers, or sent a notice instead of data; ask again "
        "later. What stays so is worth reporting"
        + (f" at {PROJECT_URL}." if PROJECT_URL else " to whoever runs this server.")
    )


class ArchiveUnreachable(SourceError):
    """The request did not complete, or the archive said that it could not answer."""

    code = "network_error"
    retryable = True


class TimedOut(SourceError):
    """No whole answer within the deadline."""

    code = "timeout"
    usual_hint = (
        "Ask again later, or with fewer words; nothing was learnt about what the archive holds."
    )


class Cancelled(Exception):
    """The caller took the question back. Never part of an answer: whoever waits simply stops."""


def lacking_library(error: BaseException | None) -> str | None:
    """What to tell when a library cannot be loaded, as under a host's wrong interpreter; None for
    any other error.

    The error's own text may hold paths of this machine, so only names are told.
    """
    if not isinstance(error, ImportError) or (error.name or "").partition(".")[0] in _OWN:
        return None
    from importlib.util import find_spec

    absent = [name for name in LIBRARIES if find_spec(name) is None]
    named = ", ".join(absent or [(error.name or "").partition(".")[0] or " or ".join(LIBRARIES)])
    them = "them" if len(absent) > 1 else "it"
    return (
        f"This Python lacks {named}: install {them} for it, or start mcp-books with the Python of "
        f"the environment that has {them}. Nothing was asked of any archive."
    )
