"""What Gallica sends, read: Dublin Core descriptions, issues, views, passages and page texts. No
request is made here.

Elements are found by local name, since their prefixes and numbers vary from answer to answer. A
reader takes one lxml element, and gives None when it holds nothing that can be read. Source: the
shapes that recorded answers show; facts of 2026-11.
"""
from __future__ import annotations

import calendar
import datetime
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..contract import (
    Archive,
    Contributor,
    Copy,
    Edition,
    Item,
    PageEntry,
    Passage,
    Query,
    Record,
    Reference,
    Related,
    Rights,
    TextMatch,
)
from ..regions import Region, around
from ..text import amount, excerpt, first, integer, joined, plain
from .dates import year_of
from .numbers import is_ark

HOME = "https://gallica.bnf.fr"
TERMS = (
    "Records: Licence Ouverte (Etalab), open data. Digitised contents: free for non-commercial "
    "reuse with the source named; "
    "commercial reuse, and use in an artificial-intelligence project outside non-profit research, "
    "need the library's "
    "licence; a partner library's documents follow its own terms."
)
YEAR_MEANS = (
    "the year of publication as catalogued (a Hijri year looks the same); none for a run of years "
    "or an uncertain date"
)

_OWN_ADDRESS = re.compile(r"https?://gallica\.bnf\.fr/ark:/12148/([0-9a-z]+)(/date)?")
_CATALOGUE_ARK = re.compile(r"https?://catalogue\.bnf\.fr/ark:/12148/(cb[0-9a-z]+)")
# prints in these may carry a Hijri year, written like any other
_ARABIC_SCRIPT = frozenset({"ara", "per", "ota", "urd"})
# First words of the functions that the library writes behind a name ("Lenoir, Anne (1802-1885).
# Auteur du texte"). Anything else behind a full stop stays in the name: a body's own department
# stands there too ("France. Ministère de la marine").
_FUNCTIONS = re.compile(
    r"(?:Acteur|Adaptateur|Agence|Ancien|Annotateur|Architecte|Arrangeur|Artiste|Auteur"
    r"|Cartographe|Chanteur|Chorégraphe"
    r"|Collaborateur|Collectionneur|Commanditaire|Commentateur|Compilateur|Compositeur|Copiste"
    r"|Correcteur|Dédicataire|Dédicateur"
    r"|Dessinateur|Destinataire|Directeur|Donateur|Éditeur|Enlumineur|Expéditeur|Fonction"
    r"|Graveur|Illustrateur|Imprimeur"
    r"|Instrumentiste|Interprète|Libraire|Librettiste|Lithographe|Parolier|Peintre|Personne"
    r"|Photographe|Possesseur|Postfacier"
    r"|Préfacier|Producteur|Réalisateur|Rédacteur|Relieur|Scénariste|Sculpteur|Traducteur"
    r"|Transcripteur)\b[^.]*"
)


# ---- elements, names and dates -------------------------------------------------------------------

def local_name(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def every(node: Any, name: str) -> list[Any]:
    """The elements of that local name at any depth, in document order."""
    return list(node.iter("{*}" + name))


def _folded(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())


def text_of(node: Any, name: str) -> str | None:
    """The text of the first element of that name that has one; None when none has."""
    return next(filter(None, map(_folded, every(node, name))), None)


def _local(name: str, date: str = "") -> str | None:
    """The identifier made of an ark name and "/date", when get_item would take it: only a
    periodical's (cb…) ends in /date."""
    return name + date if name.startswith("cb" if date else "b") and is_ark(name) else None


def _local_at(address: str) -> str | None:
    """The identifier that an address of Gallica names, when get_item would take it."""
    owned = _OWN_ADDRESS.fullmatch(address)
    return _local(*owned.groups(default="")) if owned else None


def page_url(local: str, view: int | None = None) -> str:
    """The address of a document, or of one view of it, for a person to open."""
    return f"{HOME}/ark:/12148/{local}" + (f"/f{view}" if view else "")


def image_url(local: str, view: int) -> str:
    """The picture of one view in IIIF's grammar, 1000 pixels wide: above that the library counts
    requests apart."""
    return f"{HOME}/iiif/ark:/12148/{local}/f{view}/full/1000,/0/native.jpg"


def days(bound: str) -> tuple[str, str]:
    """The first and the last day (YYYY-MM-DD) of a year, a month or a day written YYYY, YYYY-MM or
    YYYY-MM-DD."""
    year, month, day = (*bound.split("-"), "", "")[:3]
    last = day or (f"{calendar.monthrange(int(year), int(month))[1]:02}" if month else "31")
    return f"{year}-{month or '01'}-{day or '01'}", f"{year}-{month or '12'}-{last}"


def _span(date: str, languages: tuple[str, ...]) -> tuple[str, str] | None:
    """The days that a published date allows, unknown digits taken at their widest: "184?-1963" is
    1840 to 1963.

    None where the year may be one of another era, since a Hijri year is written alike.
    """
    years = re.fullmatch(r"(?!0000)(\d[\d?.u]{3})(?:-([\d?.u]{4}))?", date, re.ASCII)
    if re.fullmatch(r"(?!0000)\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", date, re.ASCII):
        start, end = days(date)
    elif years:
        start = re.sub(r"\D", "0", years[1]) + "-01-01"
        end = re.sub(r"\D", "9", years[2] or years[1]) + "-12-31"
    else:
        return None
    return None if start < "1500" and _ARABIC_SCRIPT.intersection(languages) else (start, end)


# ---- one description -----------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One Dublin Core description. `local` is None when it names no document that Gallica itself
    serves.

    `row` is the description as a catalogue row; `fields` maps each element's local name to its
    distinct texts. `quality` is the library's score of the machine-read text, up to 100; None for 0
    (no text, or not measured).
    """

    local: str | None
    row: Record
    fields: Mapping[str, tuple[str, ...]]
    quality: float | None

    def get(self, name: str) -> tuple[str, ...]:
        return self.fields.get(name, ())

    @property
    def issue(self) -> Record | None:
        """The row again when it is an issue of a periodical: its date and title are the issue's
        then."""
        return self.row if (self.row.media_type or "").startswith("fascicule") else None

    @property
    def states_text(self) -> bool:
        return self.quality is not None or "Avec mode texte" in self.get("description")


def document(node: Any) -> Document | None:
    """The description inside a search row, a record or a repository's answer; None without one, or
    where it leads nowhere."""
    fields = _fields_of(node)
    own, url = _addresses(fields.get("identifier", ()), text_of(node, "link") or "")
    if not fields or url is None:
        return None
    local = _local_at(own or "")
    themes = (_folded(entry).partition("gallica:typedoc:")[2] for entry in every(node, "setSpec"))
    kinds = (text_of(node, "typedoc"), *themes, *fields.get("type", ()))
    score = re.fullmatch(r"\d{1,3}(?:\.\d+)?", text_of(node, "nqamoyen") or "", re.ASCII)
    row = replace(_row(local, fields), source_url=page_url(local) if local else url,
                  media_type=next(filter(None, kinds), None))
    return Document(
        local=local,
        row=row,
        fields=fields,
        quality=(float(score.group()) or None) if score else None,
    )


def _fields_of(node: Any) -> dict[str, tuple[str, ...]]:
    """The distinct texts of each element of the description, by its local name."""
    texts: dict[str, dict[str, None]] = {}
    for child in (child for core in every(node, "dc")[:1] for child in core.iterchildren("*")):
        texts.setdefault(local_name(child), {})[_folded(child)] = None
    return {name: tuple(filter(None, values)) for name, values in texts.items()}


def _addresses(identifiers: Sequence[str], link: str) -> tuple[str | None, str | None]:
    """Gallica's own address among the identifiers, and the address to open. Numbers, ISSNs and
    partners' addresses stand among them; the ark is taken from them alone, since the row's other
    elements may point at some issue of a title."""
    own = next(filter(_OWN_ADDRESS.fullmatch, identifiers), None)
    return own, own or next(
        (value for value in (*identifiers, link) if re.match(r"https?://", value)), None
    )


def _row(local: str | None, fields: Mapping[str, tuple[str, ...]]) -> Record:
    """A description as a catalogue row. The date of a periodical's title is its beginning: it lies
    outside no date asked."""
    date, said = joined(fields.get("date")), fields.get("language", ())
    # A language stands there twice, as a code and as a French word: the codes alone, or what is
    # published without any.
    languages = tuple(value for value in said if re.fullmatch(r"[a-z]{3}", value)) or said
    of_title = local is not None and "/date" in local
    creators = [name for name, _ in map(_person, fields.get("creator", ()))]
    return Record(
        identifier=f"gallica:{local}" if local else None,
        title=first(fields.get("title")),
        date=date,
        creator=joined(creators),
        year=None if of_title else year_of(date or ""),
        span=None if of_title else _span(date or "", languages),
        languages=languages,
        source_url="",
        online=local is not None,
        subjects=fields.get("subject", ()),
        publishers=fields.get("publisher", ()),
        rights=joined(fields.get("rights")),
    )


def _person(line: str) -> tuple[str, str | None]:
    """A name and its role: the role stands behind the last full stop, when what stands there is
    one."""
    name, stop, role = line.rpartition(". ")
    return (name, role) if stop and _FUNCTIONS.fullmatch(role) else (line, None)


# ---- what a description becomes ------------------------------------------------------------------

def item(reference: Reference, found: Document | None) -> Item:
    """A record whole; without a description, nothing but its identifier and address."""
    address = page_url(reference.local)
    if found is None:
        return Item(identifier=reference.identifier, source_url=address, rights=rights(None))
    row, described = found.row, "\n".join(found.get("description")) or None
    copies = _copies(reference.local, address)
    item = Item(
        identifier=reference.identifier,
        title=row.title,
        creator=row.creator,
        date=row.date,
        media_type=row.media_type,
        year=row.year,
        year_means=YEAR_MEANS if row.year else None,
        source_url=address,
        description=described,
        description_means="the catalogue's notes, in French" if described else None,
        notes=_notes(found),
        subjects=row.subjects,
        rights=rights(found),
        language=row.languages,
        copies=copies,
        copies_available=len(copies),
        publisher=joined(row.publishers),
    )
    return _with_relations(item, found)


def _with_relations(item: Item, found: Document) -> Item:
    """People, relations, numbers, source and extent, as the description lists them."""
    people = dict.fromkeys(map(_person, (*found.get("creator"), *found.get("contributor"))))
    extent = [
        value
        for value in found.get("format")
        if not re.match(r"Nombre total de vues|[a-z]+/[a-z0-9.+-]+$", value)
    ]
    issn = tuple(
        value.removeprefix("ISSN ")
        for value in found.get("identifier")
        if value.startswith("ISSN ")
    )
    return replace(
        item,
        context=tuple(map(_related, found.get("relation"))),
        call_number=joined(found.get("source")),
        contributors=tuple(Contributor(name=name, role=role) for name, role in people),
        creators=tuple(dict.fromkeys(name for name, _ in map(_person, found.get("creator")))),
        extent=joined(extent),
        standard_numbers={"issn": issn} if issn else {},
    )


def _notes(found: Document) -> tuple[str, ...]:
    others = tuple(f"Another form of the title: {title}" for title in found.get("title")[1:])
    rated = (
        f"The library rates the machine-read text (OCR) at {found.quality:g} of 100."
        if found.quality is not None
        else None
    )
    return (*others, rated) if rated else others


def _copies(local: str, address: str) -> tuple[Copy, ...]:
    return (
        ()
        if "/date" in local
        else (
            Copy(label="Gallica's reader", format="web page", url=address),
            Copy(
                label="IIIF manifest",
                format="application/json",
                url=f"{HOME}/iiif/ark:/12148/{local}/manifest.json",
            ),
        )
    )


def rights(found: Document | None) -> Rights:
    """The record's own words, French and English once; silence is stated as silence, both regimes
    beside it."""
    said = found.get("rights") if found else ()
    kept = [value for value in said if value != "public domain" or "domaine public" not in said]
    silence = (
        "The record states no terms for this document, and silence grants nothing. "
        if found and not kept
        else ""
    )
    return Rights(statement=joined(kept), covers="the digitised document", note=silence + TERMS)


def _related(relation: str) -> Related:
    """A relation as published; a record of the catalogue and a periodical of Gallica become
    identifiers."""
    address = next(iter(re.findall(r"https?://\S+$", relation)), "")
    label = relation.removesuffix(address).strip(" :")
    if local := _local_at(address):
        kind = "periodical" if local.endswith("/date") else "document"
        return Related(
            identifier=f"gallica:{local}",
            label=label or f"Gallica, {kind}",
            kind=kind,
            source_url=address,
        )
    catalogue = _CATALOGUE_ARK.fullmatch(address)
    known = f"bnf:{catalogue.group(1)}" if catalogue and is_ark(catalogue.group(1)) else None
    return Related(identifier=known, label=label or address, source_url=address or None,
                   kind="catalogue record" if catalogue else "relation")


# ---- issues, views, passages, page text ----------------------------------------------------------

def issue(entry: Any, name: str, when: str) -> Edition | None:
    """An issue of the year that begins `when`, dated by the number of the day that stands beside
    it; or, where `when` is "", a year of the periodical, with the identifier that lists its
    issues."""
    written, number = _folded(entry) or None, integer(entry.get("dayOfYear")) or 0
    local, title, date = _local(entry.get("ark") or ""), written, written
    if when and 1 <= number <= 365 + calendar.isleap(int(when[:4])):
        date = (
            datetime.date(int(when[:4]), 1, 1) + datetime.timedelta(days=number - 1)
        ).isoformat()
    elif not when and re.fullmatch(r"[12]\d{3}", written or "", re.ASCII):
        local, title = f"{name}/date{written}", f"Issues of {written}"
    return (
        Edition(identifier=f"gallica:{local}", title=title, date=date, source_url=page_url(local))
        if local
        else None
    )


def view(entry: Any, local: str) -> PageEntry | None:
    """A view. A printed number only where the library gives one: "NP" and the parts of a binding
    are none."""
    number, printed = integer(text_of(entry, "ordre")) or 0, text_of(entry, "numero")
    unprinted = text_of(entry, "pagination_type") in ("N", "X") or printed == "NP"
    return (
        PageEntry(
            page_number=number,
            page_number_is="view",
            printed_page=None if unprinted else printed,
            source_url=page_url(local, number),
            image_url=image_url(local, number),
        )
        if number > 0
        else None
    )


def boxes(root: Any) -> Region | None:
    """Where the words stand on the one view that was searched, in pixels of the master image."""
    width, height = (amount(text_of(root, name)) or 0 for name in ("p_width", "p_height"))

    def side(word: Any, name: str) -> int:
        return amount(word.get(name)) or 0

    return around([(side(word, "hpos"), side(word, "vpos"), side(word, "width"),
                    side(word, "height")) for word in every(root, "altoidstring")],
                  width, height, "pixel", Archive.shown_least)


def passages(entry: Any, local: str) -> tuple[Passage, ...] | None:
    """The fragments found on one view, whole. Marks come as elements, escaped once or escaped
    twice: all three read alike."""
    named = re.fullmatch(r"PAG_0*([1-9]\d{0,6})", text_of(entry, "p_id") or "", re.ASCII)
    number = int(named.group(1)) if named else None
    written = "".join("".join(content.itertext()) for content in every(entry, "content"))
    fragments = filter(
        None, (" ".join(part.split()) for part in plain(html.unescape(written)).split("(...)"))
    )
    return (
        tuple(
            Passage(page_number=number, text=text, source_url=page_url(local, number))
            for text in fragments
        )
        or None
    )


def match(found: Document, said: Sequence[Passage], query: Query) -> TextMatch:
    """A row with the passages of its first matching view; those of its other views are read_text's
    business."""
    row, issue, number = found.row, found.issue, said[0].page_number if said else None
    texts = [passage.text for passage in said if passage.page_number == number][
        : query.excerpts_per_record
    ]
    excerpts = tuple(
        replace(excerpt(text, query.words, query.excerpt_chars), kind="passage") for text in texts
    )
    return TextMatch(
        identifier=row.identifier,
        title=row.title,
        creator=row.creator,
        year=row.year,
        span=row.span,
        page_number=number,
        page_number_is="view" if number else None,
        excerpts=excerpts,
        excerpt_kind="passage" if excerpts else None,
        source_url=row.source_url + (f"/f{number}" if number else ""),
        published_on=issue.date if issue else None,
        publication=issue.title if issue else None,
    )


def alto_text(sheet: Any) -> str:
    """The words of an ALTO page, a line a line, blocks apart; a word broken over two lines is
    written once, where it begins, when the file says what it is, and as printed when it does
    not."""
    blocks: list[str] = []
    pending: list[str] = []  # words already written whole, whose second half is still to come
    for block in every(sheet, "TextBlock"):
        lines = (" ".join(filter(None, _words(line, pending))) for line in every(block, "TextLine"))
        blocks.append("\n".join(filter(None, lines)))
    return "\n\n".join(filter(None, blocks))


def _words(line: Any, pending: list[str]) -> list[str]:
    """The words of one line, its hyphen at the end kept where no whole word is given."""
    written: list[str] = []
    for part in line.iterchildren("{*}String", "{*}HYP"):
        whole, half = part.get("SUBS_CONTENT"), part.get("SUBS_TYPE")
        if local_name(part) == "HYP":
            if written and not pending:
                written[-1] += part.get("CONTENT") or "-"
        elif half == "HypPart2" and whole in pending:
            pending.remove(whole)
        else:
            pending += [whole] if half == "HypPart1" and whole else []
            written.append((whole if half == "HypPart1" else None) or part.get("CONTENT") or "")
    return written
