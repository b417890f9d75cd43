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
from ..telling.harmless import inert
from ..transport.call import Call

if TYPE_CHECKING:
    from ..client import BooksClient

CITED_AS = {"bibtex": "bibtex", "ris": "ris", "csl": "csl_json"}
FILES = (*CITED_AS, "html", "picture")
CITE_AT_ONCE = 25  # of the tool cite
FROM_A_ROW = "Cited from a row of a search; the record was not read."


def check_free(beside: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a file that is there already, and for a picture without a file."""
    if beside.get("picture") == "-":
        raise InvalidInput("--picture: a picture is not written to standard output.",
                           hint="Name a file.")
    for form in FILES:
        path = beside.get(form)
        if path not in (None, "-") and not beside.get("force") and Path(path).exists():
            raise InvalidInput(f"--{form}: {path} is there already.",
                               hint="--force writes over it.")


def written(answer: Answer, beside: Mapping[str, Any], client: BooksClient, out: TextIO,
            err: TextIO) -> bool:
    """Write every file asked for; whether one of them went to standard output. What stands in none
    is named on standard error.

    Raises:
        InvalidInput: a file that cannot be written.
        SourceError: with --full, no record could be read.
    """
    there = False
    for form in FILES:
        path = beside.get(form)
        if path is None:
            continue
        body, lost = (_read(CITED_AS[form], _rows(answer), client)
                      if beside.get("full") and form in CITED_AS else _body(form, answer))
        for line in lost:
            print(line, file=err)
        if body is None:
            continue
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


def _body(form: str, answer: Answer) -> tuple[bytes | None, Sequence[str]]:
    """What a file holds, None where there is nothing for it; and a line for what it lacks."""
    if form == "picture":
        assert isinstance(answer, TextAnswer)
        if answer.picture is None:  # never at the cost of the text
            return None, [f"No picture was written. {inert(str(answer.picture_refused))}"]
        return answer.picture.bytes, ()
    return (answer.to_html() if form == "html" else _citations(form, answer)).encode(), ()


def _citations(form: str, answer: Answer) -> str:
    if isinstance(answer, (ItemAnswer, TextAnswer)):
        cited = answer.item.citation if isinstance(answer, ItemAnswer) else answer.citation
        one = (cited or {})[CITED_AS[form]]
        return _json([one]) if form == "csl" else str(one)
    made = whole(unique(list(_cited(answer, _rows(answer)))), CITED_AS[form])
    return _json(made) if form == "csl" else str(made)


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


def _read(form: str, rows: Sequence[Any], client: BooksClient) -> tuple[bytes, Sequence[str]]:
    """The file of the records behind rows, each read first, in calls of as many as the tool takes;
    and a line for each row that it does not hold."""
    named = [row.identifier for row in rows if row.identifier]
    parts = [named[start:start + CITE_AT_ONCE] for start in range(0, len(named), CITE_AT_ONCE)]
    budget_s = client.settings.call_budget_ms / 1000  # of one record
    told = [client.ask("cite", {"identifiers": part, "format": form},
                       Call(budget_s * len(part))).to_dict() for part in parts]
    failed = [one for part in told for one in part["failed"]]
    if failed and not any(part["entries"] for part in told):
        raise _as_error(failed[0]["error"])
    lost = [f"Not cited: {inert(row.title or row.source_url)}: its row names no record."
            for row in rows if not row.identifier]
    lost += [inert(f"Not cited: {one['identifier']}: {one['error']['message']}") for one in failed]
    files = [part["citations"] for part in told]
    text = _json([entry for file in files for entry in json.loads(file or "[]")]) \
        if form == "csl_json" else "\n".join(files)
    return text.encode(), lost


def _as_error(said: Mapping[str, Any]) -> SourceError:
    error = SourceError(said["message"], hint=said.get("hint"))
    error.code = said["code"]
    return error
