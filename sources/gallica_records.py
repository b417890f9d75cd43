"""What Gallica sends, read: Dublin Core descriptions, issues, views, passages and page texts. No request is made here.

Elements are found by local name, since their prefixes and numbers vary from answer to answer. Every reader takes lxml
elements; a part that cannot be read raises ValueError or is left out, and the caller counts it.
Source: the shapes that recorded answers show; facts of 2026-11.
"""
from __future__ import annotations

import calendar
import datetime
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .arks import is_valid
from .contract import Contributor, Copy, Edition, Item, PageEntry, Query, Record, Reference, Related, Rights, TextMatch
from .text import first_match, integer, joined, plain, window, year_of

HOME = "https://gallica.bnf.fr"
TERMS = ("Records: Licence Ouverte (Etalab), open data. Digitised contents: free for non-commercial reuse with the source named; "
         "commercial reuse, and use in an artificial-intelligence project outside non-profit research, need the library's "
         "licence; a partner library's documents follow its own terms.")
YEAR_MEANS = "the year of publication as catalogued (a Hijri year looks the same); none for a run of years or an uncertain date"

_OWN_ADDRESS = re.compile(r"https?://gallica\.bnf\.fr/ark:/12148/(?P<name>[0-9a-z]+)(?P<date>/date)?")
_CATALOGUE_ARK = re.compile(r"https?://catalogue\.bnf\.fr/ark:/12148/(cb[0-9a-z]+)")
_UNKNOWN_DIGIT = re.compile(r"\?|\d[.u](?!\d)")  # "184?", "191.", "18uu"
_ARABIC_SCRIPT = frozenset({"ara", "per", "ota", "urd"})  # prints in these may carry a Hijri year, written like any other
# First words of the functions that the library writes behind a name ("Lenoir, Anne (1802-1885). Auteur du texte"). Anything else
# behind a full stop stays in the name: a body's own department stands there too ("France. Ministère de la marine").
_FUNCTIONS = re.compile(
    r"(?:Acteur|Adaptateur|Agence|Ancien|Annotateur|Architecte|Arrangeur|Artiste|Auteur|Cartographe|Chanteur|Chorégraphe|Collaborateur"
    r"|Collectionneur|Commanditaire|Commentateur|Compilateur|Compositeur|Copiste|Correcteur|Dédicataire|Dédicateur|Dessinateur"
    r"|Destinataire|Directeur|Donateur|Éditeur|Enlumineur|Expéditeur|Fonction|Graveur|Illustrateur|Imprimeur|Instrumentiste"
    r"|Interprète|Libraire|Librettiste|Lithographe|Parolier|Peintre|Personne|Photographe|Possesseur|Postfacier|Préfacier|Producteur"
    r"|Réalisateur|Rédacteur|Relieur|Scénariste|Sculpteur|Traducteur|Transcripteur)\b[^.]*")


# ---- elements, names and dates -------------------------------------------------------------------------------------

def local_name(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def every(node: Any, name: str) -> list[Any]:
    """The elements of that local name at any depth, in document order."""
    return [entry for entry in node.iter() if local_name(entry) == name]


def _folded(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())


def text_of(node: Any, name: str) -> str | None:
    """The text of the first element of that name that has one; None when none has."""
    return next(filter(None, map(_folded, every(node, name))), None)


def readable(name: str, date: str = "") -> str | None:
    """The identifier made of an ark name and "/date", when get_item would take it: only a periodical's (cb…) ends in /date."""
    return name + date if is_valid(name) and (name.startswith("b") and not date or name.startswith("cb") and bool(date)) else None


def page_url(local: str, view: int | None = None) -> str:
    """The address of a document, or of one view of it, for a person to open."""
    return f"{HOME}/ark:/12148/{local}" + (f"/f{view}" if view else "")


def image_url(local: str, view: int) -> str:
    """The picture of one view in IIIF's grammar, 1000 pixels wide: above that the library counts requests apart."""
    return f"{HOME}/iiif/ark:/12148/{local}/f{view}/full/1000,/0/native.jpg"


def days(bound: str) -> tuple[str, str]:
    """The first and the last day (YYYY-MM-DD) of a year, a month or a day written YYYY, YYYY-MM or YYYY-MM-DD."""
    year, month, day = (*bound.split("-"), "", "")[:3]
    last = day or (f"{calendar.monthrange(int(year), int(month))[1]:02}" if month else "31")
    return f"{year}-{month or '01'}-{day or '01'}", f"{year}-{month or '12'}-{last}"


def _days_allowed(date: str) -> tuple[str, str] | None:
    """The days that a published date allows, unknown digits taken at their widest: "184?-1963" is 1840 to 1963."""
    if re.fullmatch(r"(?!0000)\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", date, re.ASCII):
        return days(date)
    years = re.fullmatch(r"(?!0000)(\d[\d?.u]{3})(?:-([\d?.u]{4}))?", date, re.ASCII)
    if years is None:
        return None
    lowest, highest = re.sub(r"\D", "0", years.group(1)), re.sub(r"\D", "9", years.group(2) or years.group(1))
    return f"{lowest}-01-01", f"{highest}-12-31"


# ---- one description -----------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One Dublin Core description. `local` is None when it names no document that Gallica itself serves.

    `fields` maps each element's local name to its distinct texts; `creators` and `contributors` pair names with roles;
    `quality` is the library's score of the machine-read text, up to 100; None for 0 (no text, or not measured).
    """

    local: str | None
    url: str
    kind: str | None
    quality: float | None
    fields: Mapping[str, tuple[str, ...]]
    creators: tuple[tuple[str, str | None], ...]
    contributors: tuple[tuple[str, str | None], ...]

    def get(self, name: str) -> tuple[str, ...]:
        return self.fields.get(name, ())

    @property
    def title(self) -> str | None:
        return next(iter(self.get("title")), None)

    @property
    def creator(self) -> str | None:
        return joined([name for name, _ in self.creators])

    @property
    def date(self) -> str | None:
        return joined(self.get("date"))

    @property
    def year(self) -> int | None:
        """A year beyond doubt: no digit unknown, and no run of years, which is the life of a title or the span of a set."""
        date = self.date or ""
        run = re.fullmatch(r"(\d{4})-(\d{4})", date)
        return None if _UNKNOWN_DIGIT.search(date) or (run and run.group(1) != run.group(2)) else year_of(date)

    @property
    def span(self) -> tuple[str, str] | None:
        """The days its date allows; None where the year may be one of another era, since a Hijri year is written alike."""
        allowed = _days_allowed(self.date or "")
        return None if allowed and allowed[0] < "1500" and _ARABIC_SCRIPT.intersection(self.languages) else allowed

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes alone: a language stands there twice, as a code and as a French word. Without a code, as published."""
        return tuple(value for value in self.get("language") if re.fullmatch(r"[a-z]{3}", value)) or self.get("language")

    @property
    def is_issue(self) -> bool:
        return (self.kind or "").startswith("fascicule")

    @property
    def states_text(self) -> bool:
        return self.quality is not None or "Avec mode texte" in self.get("description")


def document(node: Any) -> Document:
    """The description inside a search row, a record or a repository's answer. ValueError when none can be made out."""
    core = next(iter(every(node, "dc")), None)
    if core is None:
        raise ValueError("no Dublin Core description")
    fields: dict[str, dict[str, None]] = {}
    for child in core:
        if local_name(child) and (value := _folded(child)):
            fields.setdefault(local_name(child), {})[value] = None
    local, url = _whereabouts(fields.get("identifier", {}), text_of(node, "link"))
    themes = (_folded(entry) for entry in every(node, "setSpec"))
    kinds = (theme.removeprefix("gallica:typedoc:") for theme in themes if theme.startswith("gallica:typedoc:"))
    score = re.fullmatch(r"\d{1,3}(?:\.\d+)?", text_of(node, "nqamoyen") or "", re.ASCII)
    return Document(local=local, url=url, fields={name: tuple(values) for name, values in fields.items()},
                    kind=text_of(node, "typedoc") or next(kinds, None) or next(iter(fields.get("type", {})), None),
                    quality=(float(score.group()) or None) if score else None,
                    creators=tuple(map(_person, fields.get("creator", {}))),
                    contributors=tuple(map(_person, fields.get("contributor", {}))))


def _whereabouts(identifiers: Mapping[str, None], link: str | None) -> tuple[str | None, str]:
    """The identifier here and the address to open. Numbers, ISSNs and partners' addresses stand among the identifiers; the ark
    of Gallica is taken from them alone, since the row's other elements may point at some issue of a title."""
    owned = next(filter(None, map(_OWN_ADDRESS.fullmatch, identifiers)), None)
    local = readable(owned.group("name"), owned.group("date") or "") if owned else None
    addresses = [value for value in (*identifiers, link or "") if re.match(r"https?://", value)]
    if not addresses:
        raise ValueError("neither an ark nor an address")
    return local, page_url(local) if local else owned.group() if owned else addresses[0]


def _person(line: str) -> tuple[str, str | None]:
    """A name and its role: the role stands behind the last full stop, when what stands there is one."""
    name, stop, role = line.rpartition(". ")
    return (name, role) if stop and _FUNCTIONS.fullmatch(role) else (line, None)


# ---- what a description becomes ------------------------------------------------------------------------------------

def record(found: Document) -> Record:
    return Record(identifier=f"gallica:{found.local}" if found.local else None, title=found.title, creator=found.creator,
                  year=found.year, date=found.date, media_type=found.kind, source_url=found.url, online=found.local is not None,
                  languages=found.languages, subjects=found.get("subject"), publishers=found.get("publisher"), span=found.span)


def item(reference: Reference, found: Document) -> Item:
    notes = [f"Another form of the title: {title}" for title in found.get("title")[1:]]
    if found.quality is not None:
        notes.append(f"The library rates the machine-read text (OCR) at {found.quality:g} of 100.")
    extent = [value for value in found.get("format") if not re.match(r"Nombre total de vues|[a-z]+/[a-z0-9.+-]+$", value)]
    issn = tuple(value.removeprefix("ISSN ") for value in found.get("identifier") if value.startswith("ISSN "))
    description, people = "\n".join(found.get("description")) or None, dict.fromkeys((*found.creators, *found.contributors))
    copies = () if "/date" in reference.local else (
        Copy(label="Gallica's reader", format="web page", url=page_url(reference.local)),
        Copy(label="IIIF manifest", format="application/json", url=f"{HOME}/iiif/ark:/12148/{reference.local}/manifest.json"))
    return Item(identifier=reference.identifier, title=found.title, creator=found.creator, date=found.date, media_type=found.kind,
                year=found.year, year_means=YEAR_MEANS if found.year else None, source_url=page_url(reference.local),
                description=description, description_means="the catalogue's notes, in French" if description else None,
                notes=tuple(notes), subjects=found.get("subject"), rights=rights(found), language=found.languages,
                copies=copies, copies_available=len(copies), context=tuple(map(_related, found.get("relation"))),
                contributors=tuple(Contributor(name=name, role=role) for name, role in people),
                publisher=joined(found.get("publisher")), call_number=joined(found.get("source")), extent=joined(extent),
                standard_numbers={"issn": issn} if issn else {},
                creators=tuple(dict.fromkeys(name for name, _ in found.creators)))


def rights(found: Document | None) -> Rights:
    """The record's own words, French and English once; silence is stated as silence, both regimes beside it."""
    said = found.get("rights") if found else ()
    kept = [value for value in said if value != "public domain" or "domaine public" not in said]
    silence = "The record states no terms for this document, and silence grants nothing. " if found and not kept else ""
    return Rights(statement=joined(kept), covers="the digitised document", note=silence + TERMS)


def _related(relation: str) -> Related:
    """A relation as published; a record of the catalogue and a periodical of Gallica become identifiers."""
    address = next(iter(re.findall(r"https?://\S+$", relation)), "")
    label = relation.removesuffix(address).strip(" :")
    catalogue, owned = _CATALOGUE_ARK.fullmatch(address), _OWN_ADDRESS.fullmatch(address)
    local = readable(owned.group("name"), owned.group("date") or "") if owned else None
    if local:
        kind = "periodical" if local.endswith("/date") else "document"
        return Related(identifier=f"gallica:{local}", label=label or f"Gallica, {kind}", kind=kind, source_url=address)
    known = catalogue.group(1) if catalogue and is_valid(catalogue.group(1)) else None
    return Related(identifier=f"bnf:{known}" if known else None, label=label or address, source_url=address or None,
                   kind="catalogue record" if catalogue else "relation")


# ---- issues, views, passages, page text ----------------------------------------------------------------------------

def years(root: Any, name: str) -> tuple[Edition, ...]:
    """The years of a periodical, each with the identifier that lists its issues."""
    stated = [year for year in map(_folded, every(root, "year")) if re.fullmatch(r"[12]\d{3}", year, re.ASCII)]
    return tuple(Edition(identifier=f"gallica:{name}/date{year}", title=f"Issues of {year}", date=year,
                         source_url=page_url(f"{name}/date{year}")) for year in stated)


def issues(root: Any, year: int) -> tuple[Edition, ...]:
    """The issues of a year in the order sent; the date is computed from the number of the day that stands beside each."""
    found = []
    for issue in every(root, "issue"):
        number, name, written = integer(issue.get("dayOfYear")), issue.get("ark") or "", _folded(issue) or None
        known = number is not None and 1 <= number <= 366
        day = (datetime.date(year, 1, 1) + datetime.timedelta(days=(number or 1) - 1)).isoformat() if known else written
        if readable(name):
            found.append(Edition(identifier=f"gallica:{name}", title=written, date=day, source_url=page_url(name)))
    return tuple(found)


def views(root: Any, local: str) -> tuple[PageEntry, ...]:
    """Every view listed. A printed number only where the library gives one: "NP" and the parts of a binding are none."""
    entries = []
    for page in every(root, "page"):
        view, printed = integer(text_of(page, "ordre")), text_of(page, "numero")
        unprinted = text_of(page, "pagination_type") in ("N", "X") or printed == "NP"
        if view is not None and view > 0:
            entries.append(PageEntry(page_number=view, page_number_is="view", printed_page=None if unprinted else printed,
                                     source_url=page_url(local, view), image_url=image_url(local, view)))
    return tuple(entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The passages on one view; `view` None when the service names none."""

    view: int | None = None
    fragments: tuple[str, ...] = ()


def passages_on(entry: Any) -> Found:
    """One page of a ContentSearch answer. Its marks come as elements, escaped once, or escaped twice: all three read alike."""
    view = re.fullmatch(r"PAG_0*([1-9]\d{0,6})", text_of(entry, "p_id") or "", re.ASCII)
    content = next(iter(every(entry, "content")), None)
    unmarked = plain(html.unescape("".join(content.itertext()))) if content is not None else ""
    fragments = (" ".join(part.split()) for part in unmarked.split("(...)"))
    return Found(view=int(view.group(1)) if view else None, fragments=tuple(filter(None, fragments)))


def match(row: Document, found: tuple[Found, ...], query: Query) -> TextMatch:
    """A row with the passages of its first matching view; those of its other views are read_text's business."""
    first = found[0] if found else Found()
    excerpts = [window(text, first_match(text, query.words) or 0, query.excerpt_chars) for text in first.fragments]
    return TextMatch(identifier=f"gallica:{row.local}" if row.local else None, title=row.title, creator=row.creator,
                     year=row.year, span=row.span, page_number=first.view, page_number_is="view" if first.view else None,
                     excerpts=tuple(excerpts[:query.excerpts_per_record]), excerpt_kind="passage" if excerpts else None,
                     source_url=page_url(row.local, first.view) if row.local else row.url,
                     published_on=row.date if row.is_issue else None, publication=row.title if row.is_issue else None)


def alto_text(sheet: Any) -> str:
    """The words of an ALTO page, a line a line, blocks apart; a word broken over two lines is written once, where it begins."""
    blocks: list[str] = []
    pending: str | None = None
    for block in every(sheet, "TextBlock"):
        lines = []
        for line in every(block, "TextLine"):
            written = []
            for string in every(line, "String"):
                part, whole = string.get("SUBS_TYPE"), string.get("SUBS_CONTENT")
                repeats = part == "HypPart2" and whole is not None and whole == pending
                pending = whole if part == "HypPart1" else None
                if not repeats:
                    written.append(pending or string.get("CONTENT") or "")
            lines.append(" ".join(filter(None, written)))
        blocks.append("\n".join(filter(None, lines)))
    return "\n\n".join(filter(None, blocks))
