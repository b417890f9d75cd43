"""The text block of each answer, made from its structured content alone: short prose that stands
without the JSON.

Every line at the margin begins with one of `inert.LABELS` and a colon, with a row's number, with "-
" or, for page text, with "> "; what an archive or a caller wrote passes through `inert`, so it can
begin no such line. An excerpt stands in curly quotation marks, of which it keeps none itself.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..answers import NOBODY_ASKED
from ..contract import to_dict
from ..errors import SourceError
from ..text import first_match, window, words
from .harmless import disarmed, inert, one_line, visible

Told = Mapping[str, Any]  # one object of the structured content
Lines = list[str]

TITLE_CHARS = 160  # a title page can fill a screen; the structured content has it whole
NAME_CHARS = 100
SUMMARY_CHARS = 300
# of all rows together, shared evenly: the structured content has every excerpt whole
EXCERPTS_CHARS = 2000
EXCERPT_CHARS = 160  # of one row at least, however many rows there are
INDENT = "   "
PAGE_LAST = 1000  # of a search, by the schemas
SCANNED = "scanned text as a machine read it, quoted; words can be wrong."


def render(tool: str, payload: Told, rows: Iterable[Lines] | None = None) -> str:
    """The text block of a tool's answer. `payload` is its structured content; a key may be
    absent. `rows`: the lines of its rows, where they were told before."""
    if tool in LISTS:
        if rows is None:
            rows = map(told_rows(tool, payload), payload.get(LISTS[tool], ()))
        return "\n".join(_listing(tool, payload, rows))
    return "\n".join(_TOOLS[tool](payload))


def told_rows(tool: str, payload: Told) -> Callable[[Told], Lines]:
    """What tells a row of a list, its lines not numbered yet."""
    told, query, names = _ROWS[tool](payload), payload.get("query") or "", _names(payload)

    def lines(row: Told) -> Lines:
        source = row.get("source", "")
        named = {"source_name": names.get(source, source), **row}
        return told(named) + _found_by(row, query)

    return lines


def render_error(error: SourceError, reports: Iterable[Any] = ()) -> str:
    """An error in words: its code, what happened, what to do, when to ask again, and each archive's
    own reason."""
    retry = f"in about {_span(error.retry_after_s)}." if error.retry_after_s is not None else None
    told = [to_dict(report) for report in reports or getattr(error, "reports", ())]
    # neither opens its line
    message, hint = (disarmed(one_line(text)) for text in (error.message, error.hint))
    return "\n".join([f"Error: {error.code}. {message}", f"Hint: {hint}", *_line("Retry", retry),
                      *not_answered(told), *notes({"notes": getattr(error, "notes", ())})])


# ---- lists of rows -------------------------------------------------------------------------------

def _inside_head(payload: Told) -> Lines:
    kinds = payload.get("excerpt_kinds", {})
    head = f"Search inside: {_asked(payload)}: {_count(payload.get('hit_count', 0), 'row')}"
    if not any(kinds.values()):
        return [f"{head}."]
    return [f"{head}, {_count(sum(kinds.values()), 'excerpt')}: "
            + ", ".join(f"{_count(kinds[kind], noun)} {said}" for kind, noun, said in _KINDS
                        if kinds.get(kind)) + "."]


_KINDS = (("passage", "passage", "with a searched word"),
          ("page_opening", "page opening", "that may lack them"))


def _items_head(payload: Told) -> Lines:
    return [f"Catalogue search: {_asked(payload)}: {_count(payload.get('item_count', 0), 'row')}."]


def _headings_head(payload: Told) -> Lines:
    return [f"Headings: {len(payload['headings'])} found."]


def _collections_head(payload: Told) -> Lines:
    return [f"Collections: {len(payload['collections'])} found; a slug is what the argument "
            "collection takes."]


def _hits(payload: Told) -> Callable[[Told], Lines]:
    """What tells a row; the room for excerpts is shared by all rows."""
    room = max(EXCERPT_CHARS, EXCERPTS_CHARS // max(1, len(payload.get("hits", ()))))
    return lambda hit: _hit(hit, room)


def _listing(tool: str, payload: Told, told: Iterable[Lines]) -> Lines:
    """What was asked, who did not answer, the rows, what they mean, how to go on, the credit."""
    reports, rows = payload.get("per_source", ()), payload.get(LISTS[tool], ())
    provisional = any(row.get("identifier_provisional") for row in rows)
    return [
        *_HEADS[tool](payload),
        *not_answered(reports),
        *(line for number, lines in enumerate(told, 1) for line in _numbered(number, lines)),
        *notes(payload),
        *_line(
            "Identifier",
            "one marked provisional can still be replaced by its archive." if provisional else None,
        ),
        *_line("Order", payload.get("order") if len(rows) > 2 else None),
        *_facets(payload),
        *_answered(reports),
        *_wordings(reports),
        *(_more(payload) if tool != "search_headings" else ()),
        *_credit(reports),
    ]


def _asked(payload: Told) -> str:
    query = payload.get("query")
    page = payload.get("page", 1)
    return (_quoted(query) if query else "by fields alone") + (f", page {page}" if page > 1 else "")


def _hit(hit: Told, room: int) -> Lines:
    document = (
        _with("file", hit.get("matched_file")) if hit.get("inside_container") is not False else None
    )
    bundle = "inside a bundle" if hit.get("inside_container") else None
    publication = (
        hit.get("publication")
        if (hit.get("publication") or "") not in (hit.get("title") or "")
        else None
    )
    placed = _where(
        hit,
        _page(hit),
        _with("of", hit.get("published_on")),
        _with("in", publication),
        document,
        bundle,
    )
    return [_headline(hit), placed, _said(hit["source_url"]), _excerpts(hit, room)]


def _row(row: Told) -> Lines:
    """A catalogue row: where a thing is and whether it can be read, in the archive's own words,
    then the rest in one line."""
    placed = _where(row, row.get("media_type"), _with("at", row.get("location")),
                    _either(row.get("online"), "online", "not online"),
                    _either(row.get("is_item"), None, "a page about it, no record"),
                    _with("e-book:", (row.get("ebook_access") or "").replace("_", " ")))
    particulars = "; ".join(_particulars(row))
    return [
        _headline(row),
        placed,
        _said(row["source_url"]),
        *([particulars] if particulars else []),
    ]


def _heading(heading: Told) -> Lines:
    exact = (
        "exact" if heading.get("exact") else _with("matched the variant", heading.get("variant"))
    )
    use = heading.get("use_with")
    if use:
        taken = f"search_items takes it as {_said(use['argument'])} = {_quoted(str(use['value']))}"
        taken += f", in {_listed(use['sources'])}" if use.get("sources") else ""
    else:
        taken = "no argument takes it" + (
            f": {_said(heading['because'])}" if heading.get("because") else ""
        )
    return [
        inert(heading["label"], limit=TITLE_CHARS),
        _joined(
            heading["kind"],
            heading["source_name"],
            exact,
            heading.get("identifier"),
            heading.get("uri"),
        ),
        taken,
    ]


def _collection(entry: Told) -> Lines:
    size = _count(entry["item_count"], "item") if entry.get("item_count") is not None else None
    prose = [inert(entry["description"], limit=SUMMARY_CHARS)] if entry.get("description") else []
    return [
        _title(entry),
        _joined(entry["slug"], entry["source_name"], size, entry["source_url"]),
        *prose,
    ]


def _headline(row: Told) -> str:
    """Title, creator and year of a row, in one line; what an archive does not state is left out, a
    missing title is said."""
    creator = f" — {inert(row['creator'], limit=NAME_CHARS)}" if row.get("creator") else ""
    date = (
        inert(row["date"], limit=NAME_CHARS).removesuffix("T00:00:00Z") if row.get("date") else ""
    )
    year = str(row["year"]) if row.get("year") is not None and str(row["year"]) not in date else ""
    dates = ", ".join(filter(None, (year, date)))
    return _title(row) + creator + (f" ({dates})" if dates else "")


def _where(row: Told, *further: str | None) -> str:
    """A row's identifier and archive, then what else places it."""
    identifier = row.get("identifier")
    named = _said(identifier) if identifier else "no identifier to read by; open the address"
    if row.get("identifier_provisional"):
        named += " (provisional)"
    return _joined(named, row.get("source_name") or row.get("source"), *further)


def _page(row: Told) -> str | None:
    if row.get("page_number") is None:
        return None
    printed = f" (printed page {row['printed_page']})" if row.get("printed_page") else ""
    return _said(f"{row.get('page_number_is') or 'page'} {row['page_number']}{printed}")


def _particulars(row: Told) -> Lines:
    told = [
        _count(row[key], noun)
        for key, noun in (("edition_count", "edition"), ("downloads", "download"))
        if key in row
    ]
    rating = row.get("rating")
    if rating:
        told.append(f"rated {_said(rating.get('average'))} by {_said(rating.get('count'))}")
    objects = (("availability", "availability"), ("matching_edition", "matching edition"))
    told += [f"{label}: {_object(row[key])}" for key, label in objects if row.get(key)]
    if row.get("matching_edition_count") is not None:
        told.append(_count(row["matching_edition_count"], "matching edition"))
    lists = (
        ("languages", "language"),
        ("publishers", "published by"),
        ("subjects", "on"),
        ("author_identifiers", "author"),
    )
    return told + [f"{label} {_listed(row[key], 3)}" for key, label in lists if row.get(key)]


def _excerpts(hit: Told, room: int) -> str:
    """What a row's excerpts are, and as much of them as there is room for, cut around the words
    that were found."""
    found = hit.get("excerpts", ())
    if not found or not hit.get("excerpt_kind"):
        return "no text came with this match"
    is_passage = hit["excerpt_kind"] == "passage"
    shown: list[str] = []
    for text in found:
        if room >= EXCERPT_CHARS // 2:
            at = (
                found_at(text, hit.get("found_by_query", ""))
                if is_passage and len(text) > room
                else 0
            )
            shown.append(_quoted(window(text, at, room)))
            room -= len(text)
    rest = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return ("passage: " if is_passage else "page opening, not the match: ") + " ".join(shown) + rest


def found_at(text: str, wording: str) -> int:
    """Where the wording's words begin in an excerpt: the first of all of them, else the longest,
    else the start."""
    longest = max(words(wording), key=len, default="")
    return first_match(text, wording) or first_match(text, longest) or 0


def _found_by(row: Told, query: str) -> Lines:
    wording = row.get("found_by_query", query)
    return [f"found by {_quoted(wording)}"] if wording != query and wording else []


def _facets(payload: Told) -> Lines:
    names = _names(payload)
    return [
        f"Facets: {_said(names.get(facet['source'], facet['source']))}, {_said(facet['field'])}, "
        "counting "
        f"{_said(facet['counts_what'])}: "
        + (
            "; ".join(f"{_said(entry['value'])} {entry['count']:,}" for entry in facet["values"])
            or "no value"
        )
        + "."
        for facet in payload.get("facets", ())
    ]


def _more(payload: Told) -> Lines:
    """Who has more. Only the searches repeat which page this was."""
    answered = [report for report in payload.get("per_source", ())
                if report["status"] == "answered"]
    named = [report["name"] for report in answered if report.get("more")]
    further = "all that answered" if len(named) == len(answered) > 1 else ", ".join(named)
    page = payload.get("page")
    how = (
        "the next page of"
        if page is None
        else f"page {page + 1} of"
        if page < PAGE_LAST
        else f"narrow the question, for page {PAGE_LAST} is the last:"
    )
    return [f"More: {how} {_said(further)}."] if further else []


# ---- what each archive did -----------------------------------------------------------------------

def not_answered(reports: Sequence[Told]) -> Lines:
    """Who failed, with the moment and the reason, and who was not asked, with the reason; first
    when nobody was asked."""
    nobody = ["Nothing asked: none of the archives in scope can take this question."]
    lines = nobody if reports and all(report["status"] == "absent" for report in reports) else []
    for report in reports:
        if report["status"] == "failed":
            lines.append(f"Failed: {_said(report['name'])}, {_failure(report)}")
        elif report["status"] == "absent":
            lines.append(
                f"Absent: {_said(report['name'])}: {_said(report.get('absent_because', ''))}"
            )
    return lines


def _failure(report: Told) -> str:
    error = report.get("error", {})
    message = error.get("message", "")  # an archive's own words may end it without a stop
    stop = "" if message.endswith((".", "!", "?")) else "."
    told = " ".join((f"{error.get('code', '')}.", message + stop, error.get("hint", "")))
    wait = error.get("retry_after_s")
    wait_told = f" Ask again in about {_span(wait)}." if wait is not None else ""
    return f"during the {_said(report.get('stage', 'search'))}: {_said(told)}{wait_told}"


def _answered(reports: Sequence[Told]) -> Lines:
    """One line for each archive that answered: how much, of what, read how, narrowed how."""
    return [
        f"Answered: {_said(report['name'])}, "
        + "; ".join(_said(part) for part in _account(report) if part)
        + "."
        for report in reports
        if report["status"] == "answered"
    ]


def _account(report: Told) -> list[str | None]:
    """What one archive did with this question. What is always so of it, as what its rows and its
    years are, the structured content repeats and books://archives says."""
    counted = report.get("reported_total")
    total = f"its own count: {counted:,}{_counted_for(report)}" if counted is not None else None
    held = (
        "from the record kept"
        if report.get("replayed")
        else "from the cache"
        if report.get("cached")
        else None
    )
    if held and report.get("retrieved_at"):
        held += f", of {report['retrieved_at'][:10]}"
    return [
        _count(report.get("count", 0), "row"),
        total,
        _with("unreadable and dropped:", report.get("skipped")),
        f"asked for {report['media_type_asked']} alone" if "media_type_asked" in report else None,
        _with("ordered on", report.get("ordered_on")),
        *(f"{sent['filter']} sent as {sent['as']}" for sent in report.get("filters_sent", ())),
        *(
            f"{left['filter']} not applied, {left['because'].rstrip('.')}"
            for left in report.get("filters_dropped", ())
        ),
        held,
    ]


def _counted_for(report: Told) -> str:
    """Which wording an archive's own count is of, where that is not plain: its rows may come from
    several."""
    queries = report.get("queries", ())
    answered = [entry for entry in queries if entry["ran"] and not entry.get("error")]
    if not answered or (len(answered) == 1 and answered[0] is queries[0]):
        return ""
    return (
        " for the words as asked"
        if answered[0] is queries[0]
        else f" for {_quoted(answered[0]['query'])}"
    )


def _wordings(reports: Sequence[Told]) -> Lines:
    """Every wording that was sent or withheld, archive by archive; silent where the words as given
    were all."""
    return [
        f"Wordings: {_said(report['name'])}: " + "; ".join(map(_wording, report["queries"])) + "."
        for report in reports
        if len(report.get("queries", ())) > 1
    ]


def _wording(entry: Told) -> str:
    if entry.get("error"):
        outcome = f"failed, {_said(entry['error'])}"
    elif not entry["ran"]:
        outcome = "withheld, " + _said(entry.get("not_run_because", "")).rstrip(".")
    else:
        outcome = f"{_count(entry.get('count', 0), 'row')}, {entry.get('added', 0)} new"
    return f"{_quoted(entry['query'])} ({_said(entry['derivation'])}): {outcome}"


def _credit(reports: Sequence[Told]) -> Lines:
    credits = dict.fromkeys(
        disarmed(one_line(report["attribution"])).rstrip(".")  # begins no line
        for report in reports if report.get("attribution")
    )
    return [f"Credit: {' · '.join(credits)}."] if credits else []


# ---- one record ----------------------------------------------------------------------------------

def _get_item(payload: Told) -> Lines:
    """A record: what it is, its terms, its prose, then the lists asked, each with how to go on."""
    item = payload["item"]
    return [
        f"Record: {_headline(item)}",
        f"Identifier: {_where(item, item.get('media_type'))}",
        *_line("Address", item["source_url"]),
        *_line("Read as", payload.get("id_read_as")),
        *_line("Date", _with("the year is", item.get("year_means")), "."),
        *_line("Published", _listed((item.get("place"), item.get("publisher"))), "."),
        *_line("Extent", item.get("extent"), "."),
        *_line("Call number", item.get("call_number"), "."),
        *_line("Language", _listed(item.get("language")), "."),
        *_line("Numbers", _numbers(item.get("standard_numbers")), "."),
        *_rights(item),
        *_description(payload),
        *_subjects(payload),
        *_resources(item),
        *_list("Copies", payload, "copies", _copy, _beyond(item)),
        *_list("Context", payload, "context", _related),
        *_list("Contributors", payload, "contributors", _contributor),
        *_list(_LISTED_AS.get(item.get("media_type"), "Editions"), payload, "editions", _edition,
               _onward(payload, "editions")),
        *_list("Pages", payload, "pages", _page_entry, _onward(payload, "pages")),
        *_citation(item),
        *(line for note in item.get("notes", ()) for line in _line("Note", note)),
        *notes(payload),
        *_line("Not asked for", _listed(payload.get("sections_omitted")), "."),
        *_line("Never read here", _listed(payload.get("fields_not_read_from_this_archive")), "."),
        *_line("Credit", item.get("attribution")),
    ]


def _rights(told: Told) -> Lines:
    """The terms, or that none are stated; silence grants nothing."""
    rights = told.get("rights", {})
    covers = _said(rights.get("covers", "this record"))
    url = None if (rights.get("url") or "") in (rights.get("statement") or "") else rights["url"]
    stated = " ".join(
        _said(part) for part in (rights.get("statement"), url, rights.get("note")) if part
    )
    silent = (
        ""
        if rights.get("statement") or rights.get("url")
        else "nothing is stated, and nothing is granted. "
    )
    return [f"Rights: of {covers}: {silent}{stated}".rstrip()]


def _description(payload: Told) -> Lines:
    item = payload["item"]
    if not item.get("description"):
        return (
            ["Description: none stated."]
            if "description" in payload.get("sections_returned", ())
            else []
        )
    means = f" ({_said(item['description_means'])})" if item.get("description_means") else ""
    return [
        f"Description: as the archive words it{means}:",
        *_prose(item["description"]),
        *_window(payload.get("text_window")),
    ]


def _list(
    label: str, payload: Told, key: str, told: Callable[[Told], str], after: Lines | None = None
) -> Lines:
    """A list of the record under its label; nothing when it was not asked; said when it is empty,
    could not be read, or is never read here."""
    if key not in payload["item"]:
        if key in payload.get("sections_omitted", (key,)):
            return []
        never = key in payload.get("fields_not_read_from_this_archive", ())
        return [f"{label}: not read from this archive." if never else
                f"{label}: could not be read."]
    entries = [f"- {told(entry)}" for entry in payload["item"][key]]
    return [f"{label}:" if entries else f"{label}: none stated.", *entries, *(after or [])]


def _subjects(payload: Told) -> Lines:
    """Asked and empty is said, as of any list."""
    subjects = _listed(payload["item"].get("subjects"))
    asked = "subjects" in payload.get("sections_returned", ())
    return [*_line("Subjects", subjects or ("none stated" if asked else None), "."),
            *(line for key, label in _FILED_UNDER
              for line in _line(label, _listed(payload["item"].get(key)), "."))]


# What a record is filed under besides its headings, and under which label that is told
_FILED_UNDER = (("subject_terms", "Terms that subject takes"),
                ("locations", "Places that place takes"),
                ("subject_places", "Places"), ("subject_times", "Times"),
                ("subject_people", "People"))


def _resources(item: Told) -> Lines:
    """The digitised parts, each with the files that hold all of it."""
    parts = [_joined(part["label"], _count(part["page_count"], "page") if part.get("page_count")
                     else None, *(part.get(key) for key in ("image_url", "pdf_url", "audio_url")))
             for part in item.get("resources", ())]
    return ["Digitised parts:", *(f"- {part}" for part in parts)] if parts else []


def _copy(copy: Told) -> str:
    size = f"{copy['size_bytes']:,} bytes" if copy.get("size_bytes") is not None else None
    return _joined(copy["label"], copy.get("format"), size, copy["url"])


def _related(entry: Told) -> str:
    return _joined(entry["kind"], entry["label"], entry.get("identifier"), entry.get("source_url"))


def _contributor(entry: Told) -> str:
    return _joined(entry["name"], entry.get("role"), entry.get("identifier"))


def _edition(edition: Told) -> str:
    published = (edition.get(key) for key in ("date", "place", "publisher"))
    return _joined(
        _title(edition),
        *published,
        ", ".join(edition.get("language", ())),
        _numbers(edition.get("standard_numbers")),
        edition.get("identifier"),
        edition.get("source_url"),
        _with("digitised at", edition.get("digitised_url")),
    )


def _page_entry(page: Told) -> str:
    held = _either(page.get("text_held"), "text held", "no text held")
    return _joined(
        _page(page) or "page not numbered",
        held,
        page["source_url"],
        _with("image at", page.get("image_url")),
    )


def _beyond(item: Told) -> Lines:
    """Copies that were not listed: past `max_copies`, or the archive's own bookkeeping."""
    unlisted = (item.get("copies_available") or 0) - len(item.get("copies", ()))
    kept = item.get("generated_entries")
    return ([f"- {unlisted} more; raise max_copies (at most 100)"] if unlisted > 0 else []) + (
        [f"- {_count(kept, 'bookkeeping file')} of the archive left out"] if kept else [])


def _onward(payload: Told, section: str) -> Lines:
    """How to go on in the one list that `list_window` speaks of."""
    window = payload.get("list_window")
    if (
        not window
        or window["returned"] != len(payload["item"].get(section, ()))
        or window["next_offset"] is None
    ):
        return []
    return [
        f"- {window['returned']} of {window['total']:,} listed; go on with list_offset "
        f"{window['next_offset']}"
    ]


def _citation(item: Told) -> Lines:
    """The citation in one line of prose; the forms for programs line by line, quoted."""
    citation = item.get("citation") or {}
    lines = _line("Citation", citation.get("plain"))
    for key, name in (("bibtex", "BibTeX"), ("ris", "RIS")):
        if citation.get(key):
            quoted = (
                f"> {disarmed(line)}".rstrip()
                for line in visible(citation[key]).strip().split("\n")
            )
            lines += [f"Citation: as {name}:", *quoted]
    return lines


# ---- one page, passages --------------------------------------------------------------------------

def _read_text(payload: Told) -> Lines:
    """A page's text or the passages in it, or which of four reasons there is none; then how to turn
    the page."""
    count, page = payload.get("page_count"), _page(payload)
    # leaves are numbered from wherever the scan began
    among = ", one of" if payload.get("page_number_is") == "leaf" else " of"
    image = (
        f"{payload['image_url']} (to open; nothing of it was read)"
        if payload.get("image_url")
        else None
    )
    placed = f", {page}" + (f"{among} {count}" if count else "") if page else ""
    return [
        f"Text: {_title(payload)}{placed}",
        f"Identifier: {_where(payload)}",
        *_line("Address", payload["source_url"]),
        *_line("Image", image),
        *_line(
            "Published", _listed((payload.get("published_on"), payload.get("publication"))), "."
        ),
        *_line("Edition", payload.get("edition"), "."),
        *_line("Published", _with("places:", _listed(payload.get("places"))), "."),
        *(_passages(payload) if "passages" in payload else _text(payload)),
        *_turning(payload),
        *_picture(payload),
        *_rights(payload),
        *notes(payload),
        *_line("Citation", (payload.get("citation") or {}).get("plain")),
        *_line("Credit", payload.get("attribution")),
    ]


def _picture(payload: Told) -> Lines:
    """What a picture shows and how that was found; the text stands without it."""
    picture = payload.get("picture")
    if not picture:
        refused = payload.get("picture_refused")  # opens no line
        return [f"Picture: none: {disarmed(one_line(refused))}"] if refused else []
    what = f"the {picture['shows']}, {picture['width']} by {picture['height']} pixels"
    return _line("Picture", _joined(what, _with("placed by", picture.get("placed_by")),
                                    picture["url"]))


def _text(payload: Told) -> Lines:
    """Text, a blank page, a refusal and an image without text are four different answers."""
    text = payload.get("text")
    if payload.get("text_refused"):
        return [f"Text: held, but refused here: {_said(payload['text_refused'])}"]
    if text is None:
        return [
            "Text: none held; the page is an image only."
            if payload.get("ocr_available") is False
            else "Text: none came."
        ]
    if not text.strip():
        return ["Text: the page was read and is blank."]
    return [f"Text: {SCANNED}", *_prose(text), *_window(payload.get("text_window"))]


def _passages(payload: Told) -> Lines:
    found, counted = payload["passages"], payload.get("match_count")
    total = f"; {_count(counted, 'match', 'matches')} counted in all" if counted is not None else ""
    total += (
        ", and a passage may hold several" if counted is not None and counted > len(found) else ""
    )
    lines = [f"Passages: {len(found)} shown{total}; {SCANNED}"]
    lines += (
        [f"Text: held, but refused here: {_said(payload['text_refused'])}"]
        if payload.get("text_refused")
        else []
    )
    for number, passage in enumerate(found, 1):
        at = (
            _page({**passage, "page_number_is": payload.get("page_number_is")}) or "page not stated"
        )
        lines += _numbered(
            number, [f"{at} · {_said(passage['source_url'])}", _quoted(passage["text"])]
        )
    return lines


def _turning(payload: Told) -> Lines:
    turns = [
        f"{word} page is {payload[key]}"
        for key, word in (("previous_page", "the previous"), ("next_page", "the next"))
        if payload.get(key) is not None
    ]
    held_by = payload.get("item_identifier")
    record = (
        [f"the record is {_said(held_by)}"] if held_by and held_by != payload["identifier"] else []
    )
    return [f"Page: {'; '.join(turns + record)}."] if turns or record else []


def _window(window: Told | None) -> Lines:
    """Which part of a text was shown, when it was not all of it, and how to go on."""
    if not window or (not window["offset"] and window["next_offset"] is None):
        return []
    start, onward = window["offset"], window["next_offset"]
    then = f"go on with text_offset {onward}" if onward is not None else "this is the end"
    return [
        f"Page: characters {start:,} to {start + window['returned_chars']:,} of "
        f"{window['total_chars']:,}; {then}."
    ]


# ---- reports -------------------------------------------------------------------------------------

def _sequential_report(payload: Told) -> Lines:
    """Where a report stands and what is due; the finished report comes last, as the caller wrote
    it."""
    lines = [f"Report: {_said(payload['report_id'])}", f"Step: {_said(payload['step'])}"]
    if payload.get("progress"):
        lines.append(f"Progress: {_object(payload['progress'])}.")
    for key in ("plan", "sources", "graphics", "sections"):
        if payload.get(key):
            lines += [f"{key.capitalize()}:", *(f"- {_object(entry)}" for entry in payload[key])]
    lines += notes(payload) + [f"Next step: {_said(payload['next_step'])}"]
    if payload.get("report"):
        lines += [
            "Report: finished; all that follows is the report as its author wrote it.",
            "",
            visible(payload["report"]),
        ]
    return lines


def _cite(payload: Told) -> Lines:
    """The file as it was made, then what does not stand in it."""
    failed = [f"Not cited: {_said(one['identifier'])}: {_said(one['error']['message'])}"
              for one in payload.get("failed", ())]
    return [disarmed(payload.get("citations", "")).rstrip("\n"), *failed, *notes(payload)]


def _search_log(payload: Told) -> Lines:
    return [disarmed(payload.get("text", "")).rstrip("\n"), *notes(payload)]


# What the list called editions holds, of a record that has none.
_LISTED_AS: Mapping[Any, str] = {"author": "Works", "person": "Works", "organisation": "Works",
                                 "periodique": "Issues"}
# The tools that answer with a list, and where its rows stand.
LISTS = {"search_inside": "hits", "search_items": "items", "search_headings": "headings",
         "browse_collections": "collections"}
_HEADS = {"search_inside": _inside_head, "search_items": _items_head,
          "search_headings": _headings_head, "browse_collections": _collections_head}
_ROWS: Mapping[str, Callable[[Told], Callable[[Told], Lines]]] = {
    "search_inside": _hits, "search_items": lambda _: _row, "search_headings": lambda _: _heading,
    "browse_collections": lambda _: _collection}
_TOOLS: Mapping[str, Callable[[Told], Lines]] = {
    "get_item": _get_item, "read_text": _read_text, "sequential_report": _sequential_report,
    "cite": _cite, "search_log": _search_log}


# ---- small readings shared by all ----------------------------------------------------------------

def _line(label: str, text: str | None, end: str = "") -> Lines:
    """A line for what is stated, ending as said; none for what is not."""
    return [f"{label}: {_said(text).rstrip(end)}{end}"] if text else []


def _said(text: Any) -> str:
    return inert(str(text))


def _quoted(text: str) -> str:
    """What somebody else wrote, between curly marks that it cannot close by itself; a whole phrase
    keeps its own."""
    written = inert(text).replace("“", '"').replace("”", '"')
    return written if re.fullmatch('"[^"]+"', written) else f"“{written}”"


def _prose(text: str) -> Lines:
    """Prose line by line, each line behind "> ", so that its verses and columns stay and none of it
    stands at the margin."""
    return [f"> {inert(line)}".rstrip() for line in visible(text).strip("\n").split("\n")]


def _numbered(number: int, lines: Lines) -> Lines:
    return [f"{number}. {lines[0]}", *(INDENT + line for line in lines[1:])]


def _listed(values: Sequence[Any] | None, most: int | None = None) -> str:
    stated = [_said(value) for value in values or () if value]
    return ", ".join(stated[:most]) + (
        f" and {len(stated) - most} more" if most is not None and len(stated) > most else ""
    )


def _numbers(numbers: Told | None) -> str:
    return "; ".join(
        f"{_said(kind).upper()} {_listed(values)}" for kind, values in (numbers or {}).items()
    )


def _object(value: Any) -> str:
    """An object of unfixed keys in words: "status open, copies 2"; a nested one in brackets."""
    if isinstance(value, Mapping):
        stated = {key: got for key, got in value.items() if got is not None and got != []}
        return ", ".join(
            f"{_said(key).replace('_', ' ')} {_object(got)}" for key, got in stated.items()
        )
    if isinstance(value, (list, tuple)):
        return "(" + "; ".join(map(_object, value)) + ")"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else _said(value)


def notes(payload: Told) -> Lines:
    """Remarks of this server's own; a caller's or an archive's words in them come after ours, so no
    opening needs a mark.

    That nobody was asked stands above already, with the reasons (`not_answered`).
    """
    return [
        f"Note: {disarmed(one_line(note))}"
        for note in payload.get("notes", ())
        if not note.startswith(NOBODY_ASKED)
    ]


def _names(payload: Told) -> dict[str, str]:
    """The archives' names by key."""
    return {report["source"]: report["name"] for report in payload.get("per_source", ())}


def _with(before: str, value: Any) -> str | None:
    return f"{before} {value}" if value else None


def _either(stated: bool | None, yes: str | None, no: str | None) -> str | None:
    return None if stated is None else yes if stated else no


def _joined(*parts: str | None) -> str:
    """What is known of a thing, in one line."""
    return " · ".join(_said(part) for part in parts if part)


def _title(told: Told) -> str:
    return inert(told["title"], limit=TITLE_CHARS) if told.get("title") else "(no title stated)"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _span(seconds: float) -> str:
    """A wait in the unit a reader thinks in; never rounded down to nothing."""
    if seconds < 120:
        return _count(max(1, round(seconds)), "second")
    return (
        _count(round(seconds / 60), "minute") if seconds < 7200 else f"{seconds / 3600:.1f} hours"
    )
