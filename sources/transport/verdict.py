"""What an answer is: a challenge page, a refusal with its meaning, or something that can be
read. Nothing here sends or waits."""
from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from ..contract import Archive, Ask, Lane, Reply
from ..errors import (
    ArchiveUnreachable,
    InvalidInput,
    RateLimited,
    RecordNotFound,
    SourceError,
    UnreadableAnswer,
)
from .bodies import decode_json, decode_text, decode_xml, is_html, text_of_xml
from .connection import OFTEN
from .exchange import Received, Setback
from .gate import Gate
from .ledger import BLOCK_LIMIT_S

RETRY_AFTER_LIMIT_S = 30.0  # a longer wait is reported instead of slept through
LIMIT_BLOCK_S = 60.0  # a 429's silence where neither it nor the lane names a time (DESIGN 8)
RETRY_AFTER_CHARS = 100  # of a header that names a time; no date is half as long
SIGNS_IN_BYTES = 8192  # a challenge shows itself within this much of a page
# what a challenge comes with, when it does not call itself an answer
WALL_STATUSES = (403, 429, 503)
MAY_BE_LOST = ("default",)  # of a cover: whether a blank one is wanted where there is none
WALL_SIGNS = ("just a moment", "captcha", "altcha", "challenge-platform")
REFUSALS: tuple[tuple[range | tuple[int, ...], type[SourceError], str, str | None, str | None], ...
                ] = (
    ((404, 410), RecordNotFound, "{name} holds nothing at the address asked.", None, None),
    ((400, 414, 422), InvalidInput, "{name} refused the question (status {status}).",
     "Ask in plainer words, without marks that may be read as syntax.", "query_refused"),
    ((401, 403, 451), ArchiveUnreachable, "{name} refused the request (status {status}).",
     "It may refuse this client or this network; nothing was learnt about what is held.",
     "refused_by_site"),
    (range(200, 300), UnreadableAnswer, "{name} answered without an answer (status {status}).",
     None, "other_shape"),
)
ANY_OTHER = (ArchiveUnreachable, "{name} could not answer (status {status}).", None, "server_error")


def judge(ask: Ask, gate: Gate, received: Received, wall_now: float) -> None:
    """Raise Setback for a challenge page, whatever its status, and for a status that is no
    answer."""
    if _is_wall(ask, gate.lane, received):
        raise walled(gate.archive)
    if received.status not in ask.statuses:
        raise _refusal(gate.archive, gate.lane, received, wall_now)


def _is_wall(ask: Ask, lane: Lane, received: Received) -> bool:
    if received.headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    if not is_html(received.body, received.content_type):
        return False
    signs = _signs(lane)
    if received.status == 403 and 403 not in ask.statuses:
        signs += ("access denied",)
    page = received.body[:SIGNS_IN_BYTES].decode("utf-8", "replace").lower()
    if received.status not in WALL_STATUSES or received.status in ask.statuses:
        page = _as_shown(page)
    asked = unquote_plus(" ".join((ask.url, *(value for _, value in ask.form)))).lower()
    # An error page may repeat what was asked.
    return any(sign in page and sign not in asked for sign in signs)


def _as_shown(page: str) -> str:
    """A page without its scripts: on an ordinary page those of a vendor of challenges only watch.
    A page that shows nothing else is left as it is."""
    first, *scripts = page.split("<script")
    shown = first + "".join(script.partition("</script")[2] for script in scripts)
    return shown if re.search(r"[^\W\d_]", re.sub("<[^<>]*>", "", shown)) else page


def judge_redirect(gate: Gate, asked: str, target: str) -> None:
    """Raise Setback for a redirect to a challenge (what the address asked held already is the
    caller's own words), and for one that loses a parameter: its answer would be one to another
    question, told as if all had been asked."""
    if any(sign in target.lower() and sign not in asked.lower() for sign in _signs(gate.lane)):
        raise walled(gate.archive)
    lost = _parameters(asked) - _parameters(target)
    if lost:
        raise Setback(ArchiveUnreachable(
            f"{gate.archive.name} sent a redirect that loses what was asked "
            f"({', '.join(sorted(lost))}); it was not followed.", archive=gate.archive.key,
            reason="redirected_elsewhere"))


def _parameters(url: str) -> set[str]:
    """The names of the parameters of an address that bear on what is answered."""
    return {name for name, _ in parse_qsl(urlsplit(url).query) if name not in MAY_BE_LOST}


def _signs(lane: Lane) -> tuple[str, ...]:
    return (*WALL_SIGNS, *lane.wall_signs)


def walled(archive: type[Archive]) -> Setback:
    error = ArchiveUnreachable(
        f"{archive.name}: blocked by the site's protection; a challenge page came instead of an "
        "answer.",
        archive=archive.key,
        hint="Nothing was learnt about what is held; nothing more is sent there for a while.",
        reason="challenge")
    return Setback(error, wall=True)


def _refusal(archive: type[Archive], lane: Lane, received: Received, wall_now: float) -> Setback:
    """What a status that is no answer means (DESIGN 8)."""
    status = received.status
    after_s = retry_after(received.headers.get("retry-after"), wall_now)
    if status == 429 or (status == 503 and after_s is not None):
        return _limit(archive, lane, status, after_s)
    kind, message, hint, reason = next((row[1:] for row in REFUSALS if status in row[0]), ANY_OTHER)
    error = kind(message.format(name=archive.name, status=status), archive=archive.key,
                 status=status, hint=hint, reason=reason)
    return Setback(error, tries=OFTEN if status in lane.retry_statuses else 0,
                   wall=lane.bans_mutely and status == 403)


def _limit(archive: type[Archive], lane: Lane, status: int, after_s: float | None) -> Setback:
    """What a 429, or a 503 that names a time, means: a short wait, or silence that is reported
    at once."""
    if status == 429:
        unnamed_s = LIMIT_BLOCK_S if after_s is None else 0.0
        least_s = unnamed_s if lane.limit_block_s is None else lane.limit_block_s
        after_s = max(least_s, after_s or 0.0)
    error = RateLimited(f"{archive.name} asked this client to slow down (status {status}).",
                        archive=archive.key,
                        status=status, retry_after_s=after_s, reason="asked_to_wait")
    if (after_s or 0.0) <= RETRY_AFTER_LIMIT_S and status in lane.retry_statuses:
        return Setback(error, tries=OFTEN, pause_s=after_s)
    return Setback(error, silence_s=after_s or 0.0)


def retry_after(value: str | None, wall_now: float) -> float | None:
    """Seconds from a Retry-After header, between 0 and a day; None when there is none or it makes
    no sense.

    Source: RFC 9110, 10.2.3 (seconds or a date).
    """
    text = (value or "").strip()[:RETRY_AFTER_CHARS]
    # a header sent twice arrives as one, with a comma between
    if number := re.match(r"(\d+(?:\.\d+)?)\s*(?:,|\Z)", text, re.ASCII):
        return min(float(number[1]), BLOCK_LIMIT_S)
    try:
        moment = parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return None if moment is None else min(max(0.0, moment - wall_now), BLOCK_LIMIT_S)


def read(ask: Ask, archive: type[Archive], received: Received, *, cached: bool = False,
         hashed: bool = False) -> Reply:
    """The answer decoded and checked. Raises UnreadableAnswer, or what a check raises."""
    reply = Reply(value=None, status=received.status, headers=received.headers, url=received.url,
                  retrieved_at=received.retrieved_at, cached=cached,
                  sha256=hashlib.sha256(received.body).hexdigest() if hashed else None)
    if ask.check_text is not None:
        ask.check_text(replace(reply, value=_as_text(ask, received)))
    try:
        value = _value(ask, received)
    except ValueError as exc:
        if received.status == 200:
            raise UnreadableAnswer(f"The answer of {archive.name} {exc}.", archive=archive.key,
                                   status=200, reason="other_shape") from exc
        value = _as_text(ask, received)
    reply = replace(reply, value=value)
    if ask.check is not None:
        ask.check(reply)
    return reply


def _as_text(ask: Ask, received: Received) -> str:
    decode = text_of_xml if ask.body == "xml" else decode_text
    return decode(received.body, received.content_type)


def _value(ask: Ask, received: Received) -> Any:
    """The body as the kind of answer that was due. Raises ValueError with a phrase that says
    what came instead."""
    kind, body, content_type = ask.body, received.body, received.content_type
    if kind != "html" and received.status == 200 and is_html(body,
                                                             "" if kind == "xml" else content_type):
        raise ValueError("is a web page instead of data")
    if kind == "picture":
        return body
    if kind == "json":
        return decode_json(body)
    if kind == "xml":
        return decode_xml(body, content_type)
    if not body and received.status == 200:
        raise ValueError("is empty")
    return decode_text(body, content_type)
