"""An answer as a file of its own: a bibliography, a document, a picture. A file that is there is
left as it is, unless --force says otherwise."""
from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..answers import Answer, InsideAnswer, ItemAnswer, ItemsAnswer, ListAnswer, TextAnswer
from ..errors import InvalidInput, SourceError
from ..telling.citations import Cited, of_row, unique, whole
from ..transport.call import Call

if TYPE_CHECKING:
    from ..client import BooksClient

CITED_AS = {"bibtex": "bibtex", "ris": "ris", "csl": "csl_json"}
FILES = (*CITED_AS, "html", "picture")
CITE_AT_ONCE = 25  # of the tool cite
FROM_A_ROW = "Cited from a row of a search; the record was not read."


def check_free(beside: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a file that is there already."""
    for form in FILES:
        path = beside.get(form)
        if path not in (None, "-") and not beside.get("force") and Path(path).exists():
            raise InvalidInput(f"--{form}: {path} is there already.",
                               hint="--force writes over it.")


def written(answer: Answer, beside: Mapping[str, Any], client: BooksClient, out: TextIO) -> bool:
    """Write every file asked for; whether one of them went to standard output.

    Raises:
        InvalidInput: a file that cannot be written, or that this answer cannot fill.
        SourceError: with --full, no record could be read.
    """
    there = False
    for form in FILES:
        path = beside.get(form)
        if path is None:
            continue
        body = _body(form, answer, client, full=bool(beside.get("full")))
        if path == "-":
            out.write(body.decode("utf-8"))
            there = True
            continue
        try:
            Path(path).write_bytes(body)
        except (OSError, ValueError) as exc:
            why = (exc.strerror if isinstance(exc, OSError) else None) or "no file has such a name"
            raise InvalidInput(f"--{form}: {path} cannot be written: {why}.",
                               hint="Name a file in a folder that can be written to.") from exc
    return there


def _body(form: str, answer: Answer, client: BooksClient, *, full: bool) -> bytes:
    if form == "html":
        return answer.to_html().encode()
    if form == "picture":
        assert isinstance(answer, TextAnswer)
        if answer.picture is None:
            raise InvalidInput(f"--picture: there is none. {answer.picture_refused}",
                               hint="The text can be read without --picture.")
        return answer.picture.bytes
    if isinstance(answer, (ItemAnswer, TextAnswer)):
        cited = answer.item.citation if isinstance(answer, ItemAnswer) else answer.citation
        one = (cited or {})[CITED_AS[form]]
        return (_json([one]) if form == "csl" else str(one)).encode()
    rows = _rows(answer)
    if full:
        return _read(CITED_AS[form], [row.identifier for row in rows if row.identifier],
                     client).encode()
    made = whole(unique(list(_cited(answer, rows))), CITED_AS[form])
    return (_json(made) if form == "csl" else str(made)).encode()


def _json(entries: Sequence[Any]) -> str:
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"


def _rows(answer: Answer) -> Sequence[Any]:
    if isinstance(answer, InsideAnswer):
        return answer.hits
    assert isinstance(answer, ItemsAnswer)
    return answer.items


def _cited(answer: Answer, rows: Sequence[Any]) -> Iterator[Cited]:
    """The rows as cited, each saying that its record was not read."""
    assert isinstance(answer, ListAnswer)
    reports = {report.source: report for report in answer.reports}
    for row in rows:
        report = reports[row.source]
        cited = of_row(row, retrieved_on=report.retrieved_at or "", credit=report.attribution)
        note = "; ".join(filter(None, (cited.note, FROM_A_ROW)))
        yield dataclasses.replace(cited, note=note)


def _read(form: str, identifiers: Sequence[str], client: BooksClient) -> str:
    """Each record read first, in calls of as many as the tool takes."""
    texts: list[Any] = []
    for start in range(0, len(identifiers), CITE_AT_ONCE):
        part = {"identifiers": list(identifiers[start:start + CITE_AT_ONCE]), "format": form}
        answer = client.ask("cite", part, Call(client.settings.call_budget_ms / 1000
                                               * len(part["identifiers"])))
        texts.append(answer.to_dict())
    failed = [one for told in texts for one in told["failed"]]
    if failed and not any(told["entries"] for told in texts):
        raise SourceError(failed[0]["error"]["message"])
    if form == "csl_json":
        return _json([entry for told in texts for entry in json.loads(told["citations"] or "[]")])
    return "\n".join(told["citations"] for told in texts)
