"""Answers of any number of rows in the shapes the archives send, about invented works, each row as long as a recorded one.

`bench.py` serves them from a stand-in for every archive: what is timed must be as heavy as what is really read.
"""
from __future__ import annotations

import json
from collections.abc import Callable

from sources.archives.numbers import ark_check_character

WORDS = ("harbour", "lantern", "otter", "granary", "winter", "ferry", "orchard", "copper", "bell", "almanac", "river", "miller", "thistle",
         "compass", "ledger", "quarry", "sparrow", "candle", "meadow", "anchor", "chimney", "lattice", "saddle", "cellar", "bramble", "pewter",
         "turnip", "gable", "heron", "wicker")
CREDIT = ("Orrin, Tess, 1820-1889", "Quill, Abel", "Moor, Ada, 1840-1901")


def prose(count: int, start: int = 0) -> str:
    """So many words of scanned text, other ones for another `start`."""
    return " ".join(WORDS[(start * 7 + number * number + number) % len(WORDS)] for number in range(count))


def title(number: int) -> str:
    return f"The {WORDS[number % len(WORDS)]} and the {WORDS[(number * 3 + 5) % len(WORDS)]}, volume {number}"


def ark(number: int, kind: str = "cb") -> str:
    """A name with the check character that makes it valid."""
    name = f"cb9{number:07d}" if kind == "cb" else f"bpt6k9{number:06d}"
    return name + ark_check_character(name)


# ---- the Internet Archive ------------------------------------------------------------------------------------------------

def archive_text(rows: int) -> bytes:
    """Search inside: about 2 KB a document, with two excerpts."""
    hits = [{"index": "fts_main", "service_backend": "fts", "hit_type": "text",
             "fields": {"identifier": f"vale{number:05d}orri", "filename": f"vale{number:05d}orri_hocr_searchtext.txt.gz",
                        "file_basename": f"vale{number:05d}orri", "page_num": 1, "file_creation_mtime": 1625751593 + number,
                        "updated_on": "2024-03-03T01:36:04Z", "created_on": "2021-07-08T14:03:23Z", "mediatype": "texts",
                        "title": title(number), "creator": list(CREDIT[:1 + number % 2]), "date": f"{1801 + number % 120}-01-01T00:00:00Z",
                        "year": 1801 + number % 120, "publicdate": "2020-10-23T20:30:21Z", "addeddate": "2020-10-23T20:30:21Z",
                        "downloads": 57 + number, "collection": ["valelibrary", "microfilm", "periodicals"],
                        "subject": ["Lanterns", "Rivers -- Navigation -- Periodicals", "Mills and mill-work"], "issue": str(number),
                        "description": [prose(60, number)], "result_in_subfile": False, "__href__": f"/details/vale{number:05d}orri?q=lantern"},
             "highlight": {"text": [prose(18, number) + " the {{{lantern}}} at the {{{harbour}}} " + prose(18, number + 1) for _ in range(2)]}}
            for number in range(rows)]
    header = {"succeeded": True, "query_time": 64}
    return _json({"uid": "R:invented", "version": "2.0.0", "response": {"header": header, "body": {
        "hits": {"total": 4321, "returned": rows, "hits": hits}}}})


def archive_items(rows: int) -> bytes:
    """The catalogue, in the fields asked: about 350 bytes an item."""
    docs = [{"identifier": f"vale{number:05d}orri", "title": title(number), "creator": list(CREDIT), "year": 1801 + number % 120,
             "date": f"{1801 + number % 120}-01-01T00:00:00Z", "mediatype": "texts", "downloads": 412 + number, "language": "eng",
             "publisher": "Vale : Quill & Daughter"} for number in range(rows)]
    return _json({"responseHeader": {"status": 0, "QTime": 12, "params": {"query": "lantern", "rows": rows}},
                  "response": {"numFound": 4321, "start": 0, "docs": docs}})


def archive_record(files: int) -> bytes:
    entries = [{"name": f"vale00000orri_{number:04d}.pdf", "source": "derivative", "format": "Text PDF", "size": str(2048 + number),
                "md5": "0" * 32, "mtime": "1600000000"} for number in range(files)]
    return _json({"created": 1700000000, "d1": "ia600001.us.archive.org", "dir": "/7/items/vale00000orri",
                  "server": "ia600001.us.archive.org", "workable_servers": ["ia600001.us.archive.org"], "files": entries,
                  "metadata": {"identifier": "vale00000orri", "title": title(0), "mediatype": "texts", "creator": list(CREDIT),
                               "date": "1858", "collection": ["valelibrary"], "subject": ["Lanterns", "Rivers"],
                               "description": prose(200), "language": "eng", "imagecount": "5"}})


# ---- the Library of Congress ---------------------------------------------------------------------------------------------

def loc_pages(rows: int) -> bytes:
    """Newspaper pages: about 5 KB each, a third of it text, the rest places, addresses and coordinates."""
    return _loc([{
        "access_restricted": False, "aka": [_loc_page(number)], "batch": ["valuv_otter_ver01"], "campaigns": [],
        "composite_location": ["0/united states/", "1/united states/ohio/", "2/united states/ohio/larkfield/"],
        "contributor": ["larkfield library; larkfield, oh"], "date": f"18{number % 90 + 10}-02-03", "dates": [f"18{number % 90 + 10}-02-03"],
        "description": [prose(140, number)], "digitized": True, "extract_timestamp": "2023-09-04T23:04:51.792Z",
        "group": ["ndnp/valuv", "larkfield-library-awardee"], "hassegments": False, "id": _loc_page(number),
        "image_url": [f"https://tile.loc.gov/image-services/iiif/service:ndnp:valuv:batch_valuv_otter_ver01:data:sn{number:08d}:0041/full/"
                      f"pct:{share}/0/default.jpg#h=925&w=730" for share in ("6.25", "12.5")],
        "index": number + 1, "language": ["english"], "location": ["larkfield county", "united states", "ohio", "larkfield"],
        "location_city": ["larkfield"], "location_country": ["united states"], "location_state": ["ohio"],
        "mime_type": ["image/jp2", "application/pdf", "text/xml", "image/jpeg", "application/json", "text/plain"],
        "number": [f"sn{number:08d}", "0000000005", "1"], "number_edition": ["1"], "number_lccn": [f"sn{number:08d}"],
        "number_page": ["0000000005"], "number_reel": list("00414189696"), "online_format": ["image", "pdf", "online text"],
        "original_format": ["newspaper"], "other_title": ["Larkfield morning beacon", "Beacon and Ohio farmer", "Weekly beacon"],
        "page_coordinate_data": {
            "coords_list": [[18161.0 + number, 8627.0, 378.0, 104.0], [18638.0, 8622.0 + number, 335.0, 128.0], [19748.0, 4091.0, 326.0, 128.0]],
            "height": "29600", "width": "23372", "searchTerms": {"lantern": [[18638.0, 8622.0, 335.0, 128.0], [19748.0, 4091.0, 326.0, 128.0]],
                                                                 "harbour": [[18161.0, 8627.0, 378.0, 104.0]]},
            "relevant_snippet": f"... {prose(50, number)} [[tag]]lantern[[/tag]] by the [[tag]]harbour[[/tag]] {prose(40, number + 2)} ..."},
        "page_id": f"sn{number:08d}-1888-02-03-ed-1-0005", "partof": ["the larkfield beacon (larkfield, ohio) 1880-1899", "chronicling america"],
        "partof_collection": ["chronicling america"], "partof_division": ["serial and government publications division"],
        "partof_title": ["the larkfield beacon (larkfield, ohio) 1880-1899"], "publication_frequency": ["daily"],
        "resources": [{"files": 1, "url": _loc_page(number)}], "segmentof": [f"http://www.loc.gov/resource/sn{number:08d}/1888-02-03/ed-1/"],
        "shelf_id": "5", "site": ["chroniclingamerica"], "subject": ["larkfield", "ohio", "newspapers", "united states", "larkfield county"],
        "timestamp": "2023-09-05T23:44:39.604Z", "title": "Image 5 of The Larkfield beacon (Larkfield, Ohio), February 3, 1888",
        "type": ["segment"], "url": _loc_page(number) + "&q=lantern+harbour",
        "word_coordinates_url": "https://tile.loc.gov/text-services/word-coordinates-service?q=lantern+harbour&relevant_snippet=1&segment="
                                f"%2Fservice%2Fndnp%2Fvaluv%2Fbatch_valuv_otter_ver01%2Fdata%2Fsn{number:08d}%2F0005.xml&format=alto_xml"}
        for number in range(rows)])


def loc_items(rows: int) -> bytes:
    """Catalogue rows: about 4 KB each, most of it notes, contents and addresses."""
    return _loc([{
        "access_restricted": False, "aka": [f"http://www.loc.gov/item/{number:08d}/", f"http://lccn.loc.gov/{number:08d}"], "campaigns": [],
        "contributor": ["moor, ada", "reed & sons"], "date": f"{1801 + number % 120}-01-01", "dates": [f"{1801 + number % 120}-01-01T00:00:00Z"],
        "description": [prose(30, number)], "digitized": True, "extract_timestamp": "2023-09-04T23:04:51.792Z",
        "group": ["valuv-awardee", "catalog"], "hassegments": True, "id": f"http://www.loc.gov/item/{number:08d}/", "index": number + 1,
        "item": {"call_number": ["QL737 .M6"], "contents": [prose(90, number)], "contributors": ["Moor, Ada, 1840-1901.", "Reed & Sons, printer."],
                 "created_published": ["Larkfield, Ohio : Reed & Sons, 1881."], "date": "1881", "digital_id": ["http://hdl.loc.gov/loc.val/otter.1"],
                 "format": ["text"], "language": ["eng"], "medium": ["210 p. ; 20 cm."],
                 "notes": ["Also available in digital form.", prose(40, number + 3)], "subjects": ["Otters", "Mills"], "title": title(number)},
        "image_url": [f"https://tile.loc.gov/storage-services/service/val/{number:08d}/000{file}.jpg" for file in range(4)],
        "language": ["english", "french"], "location": ["ohio", "larkfield"], "mime_type": ["image/jp2", "application/pdf", "text/xml"],
        "number": [f"{number:08d}"], "number_lccn": [f"{number:08d}"], "number_oclc": [f"{number + 4711:08d}"],
        "online_format": ["image", "pdf", "online text"], "original_format": ["book"], "other_title": [title(number + 1)],
        "partof": ["rare book and special collections division", "american memory", "catalog"],
        "resources": [{"files": 210, "caption": "The book", "pdf": f"http://cdn.loc.gov/service/val/{number:08d}/book.pdf",
                       "image": f"http://cdn.loc.gov/service/val/{number:08d}/0001t.gif", "url": f"https://www.loc.gov/resource/val.{number:08d}/"}],
        "segments": [{"count": 254, "link": f"https://www.loc.gov/books/?at=results,pagination&c=100&fa=segmentof:val.{number:08d}/&fo=json",
                      "url": f"https://www.loc.gov/resource/val.{number:08d}/"}],
        "shelf_id": "QL737 .M6", "subject": ["otters", "mills", "ohio"], "timestamp": "2023-09-05T23:44:39.604Z", "title": title(number),
        "type": ["book"], "url": f"https://www.loc.gov/item/{number:08d}/"} for number in range(rows)])


def loc_record(pages: int) -> bytes:
    files = [[{"mimetype": "image/jp2", "url": f"https://tile.loc.gov/otter/{number}.jp2", "size": 9000},
              {"mimetype": "image/jpeg", "url": f"https://tile.loc.gov/otter/{number}.jpg"}] for number in range(pages)]
    return _json({"item": {"id": "http://www.loc.gov/item/00000021/", "title": title(21), "date": "1881", "original_format": ["book"],
                           "contributor_names": ["Moor, Ada, 1840-1901, author."], "notes": [prose(60)], "rights": ["<p>No known restrictions.</p>"]},
                  "resources": [{"caption": "The book", "url": "http://www.loc.gov/resource/otter.00000021/", "files": files}]})


def _loc(rows: list[dict[str, object]]) -> bytes:
    return _json({"pagination": {"from": 1, "to": len(rows), "of": 4321, "total": 99, "perpage": len(rows), "current": 1, "next": None},
                  "results": rows})


def _loc_page(number: int) -> str:
    return f"http://www.loc.gov/resource/sn{number:08d}/1888-02-03/ed-1/?sp=5"


# ---- data.bnf.fr ---------------------------------------------------------------------------------------------------------

def bnf_works(rows: int) -> bytes:
    """A table of statements: eight for each work, about 270 bytes each."""
    table: list[dict[str, object]] = [{"counted": {**_literal(str(rows)), "type": "typed-literal", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}]
    for number in range(rows):
        thing = {"type": "uri", "value": f"http://data.bnf.fr/ark:/12148/{ark(number)}#about"}
        creator = {"type": "uri", "value": f"http://data.bnf.fr/ark:/12148/{ark(5000 + number)}#about"}
        table += [{"thing": thing, "p": {"type": "uri", "value": name}, "o": value, **more} for name, value, more in (
            ("http://purl.org/dc/terms/title", _literal(title(number), "fr"), {}),
            ("http://purl.org/dc/terms/title", _literal(title(number + 1), "en"), {}),
            ("http://purl.org/dc/terms/creator", creator, {"name": _literal("Odile Ferrand-Quint")}),
            ("http://purl.org/dc/terms/date", _literal("1897"), {}),
            ("http://data.bnf.fr/ontology/bnf-onto/firstYear", _literal("1897"), {}),
            ("http://purl.org/dc/terms/language", {"type": "uri", "value": "http://id.loc.gov/vocabulary/iso639-2/fre"}, {}),
            ("http://rdvocab.info/Elements/statusOfIdentification", _literal("fully established", "en"), {}))]
    return _json({"head": {"link": [], "vars": ["thing", "p", "o", "name", "counted"]},
                  "results": {"distinct": False, "ordered": True, "bindings": table}})


def _literal(value: str, language: str | None = None) -> dict[str, str]:
    return {"type": "literal", "value": value, **({"xml:lang": language} if language else {})}


# ---- the general catalogue of the BnF ------------------------------------------------------------------------------------

def bnf_catalogue_records(rows: int) -> bytes:
    """UNIMARC: about 3 KB each, most of it tags and codes."""
    told = "".join(
        "<srw:record><srw:recordSchema>marcxchange</srw:recordSchema><srw:recordData>"
        '<mxc:record xmlns:mxc="info:lc/xmlns/marcxchange-v2" format="UNIMARC" type="Bibliographic"><mxc:leader>     nam  22      i 450 </mxc:leader>'
        + "".join(f'<mxc:datafield tag="{tag}" ind1=" " ind2=" ">'
                  + "".join(f'<mxc:subfield code="{code}">{text}</mxc:subfield>' for code, text in parts) + "</mxc:datafield>"
                  for tag, parts in _bnf_fields(number))
        + f"</mxc:record></srw:recordData><srw:recordIdentifier>ark:/12148/{_record_ark(number)}</srw:recordIdentifier></srw:record>"
        for number in range(rows))
    return ('<srw:searchRetrieveResponse xmlns:srw="http://www.loc.gov/zing/srw/"><srw:version>1.2</srw:version>'
            f"<srw:numberOfRecords>4321</srw:numberOfRecords><srw:records>{told}</srw:records></srw:searchRetrieveResponse>").encode()


def _record_ark(number: int) -> str:
    name = f"cb4990{number:04d}"
    return name + ark_check_character(name)


def _bnf_fields(number: int) -> list[tuple[str, list[tuple[str, str]]]]:
    return [("010", [("a", "978-2-00-000011-8"), ("b", "br.")]), ("100", [("a", "20260214d1897    m  y0frey50      ba")]),
            ("101", [("a", "fre")]), ("102", [("a", "FR")]), ("105", [("a", "||||z   00|||")]),
            ("200", [("a", title(number)), ("b", "Texte imprimé"), ("e", prose(12, number)), ("f", "Odile Ferrand-Quint")]),
            ("210", [("a", "Valbourg"), ("c", "Roseau et fils"), ("d", "1897")]), ("215", [("a", "210 p."), ("c", "ill."), ("d", "20 cm")]),
            ("330", [("a", prose(60, number))]), ("606", [("3", "90000311"), ("a", "Lanternes"), ("x", "Histoire")]),
            ("700", [("3", "90000201"), ("a", "Ferrand-Quint"), ("b", "Odile"), ("f", "1820-1889"), ("4", "070")]),
            ("702", [("3", "90000202"), ("a", "Quill"), ("b", "Abel"), ("4", "440")]),
            ("930", [("5", "FR-000000000:1"), ("a", f"8-Y2-{number}"), ("c", "Tolbiac - Rez-de-jardin - magasin")])]


# ---- Open Library --------------------------------------------------------------------------------------------------------

def openlibrary_works(rows: int) -> bytes:
    """Works, in the fields asked: about 800 bytes each, half of it the readers' tags."""
    docs = [{"key": f"/works/OL{800001 + number}W", "title": title(number), "author_name": ["Odile Ferrant", "Abel Quill"],
             "author_key": ["OL800011A", "OL800012A"], "first_publish_year": 1883 + number % 100, "edition_count": 3 + number,
             "ebook_access": "borrowable", "cover_i": 501 + number, "language": ["eng", "fre", "ger"],
             "subject": [f"{WORDS[(number + step) % len(WORDS)].title()} in literature" for step in range(14)],
             "ratings_average": 3.666666, "ratings_count": 3} for number in range(rows)]
    return _json({"numFound": 4321, "start": 0, "numFoundExact": True, "num_found": 4321, "q": "lantern", "docs": docs})


def openlibrary_record() -> bytes:
    return _json({"key": "/works/OL800001W", "type": {"key": "/type/work"}, "title": title(1), "description": prose(80), "subjects": ["Lanterns"],
                  "authors": []})


# ---- Gallica -------------------------------------------------------------------------------------------------------------

def gallica_documents(rows: int) -> bytes:
    """Search answers in XML: about 1.6 KB a document."""
    records = "".join(f"""<srw:record><srw:recordSchema>http://www.openarchives.org/OAI/2.0/OAIdc.xsd</srw:recordSchema>
      <srw:recordPacking>xml</srw:recordPacking><srw:recordData><oai_dc:dc>
        <dc:creator>Vasseur, Odile (1801-1870). Auteur du texte</dc:creator><dc:date>1862</dc:date>
        <dc:description>{prose(40, number)}</dc:description>
        <dc:format>Nombre total de vues : 210</dc:format><dc:identifier>https://gallica.bnf.fr/ark:/12148/{ark(number, "bpt")}</dc:identifier>
        <dc:language>fre</dc:language><dc:language>français</dc:language><dc:publisher>Veuve Lanthier (Amiens)</dc:publisher>
        <dc:relation>Notice du catalogue : http://catalogue.bnf.fr/ark:/12148/{ark(number)}</dc:relation><dc:rights>domaine public</dc:rights>
        <dc:rights>public domain</dc:rights><dc:subject>Marais -- Picardie</dc:subject><dc:title>{title(number)}</dc:title>
        <dc:type>text</dc:type><dc:type>monographie imprimée</dc:type></oai_dc:dc></srw:recordData>
      <srw:extraRecordData><link>https://gallica.bnf.fr/ark:/12148/{ark(number, "bpt")}</link><nqamoyen>88.1</nqamoyen>
        <typedoc>monographies</typedoc></srw:extraRecordData></srw:record>""" for number in range(rows))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<srw:searchRetrieveResponse xmlns:srw="http://www.loc.gov/zing/srw/" xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><srw:version>1.2</srw:version><srw:numberOfRecords>4321</srw:numberOfRecords>
<srw:records>{records}</srw:records></srw:searchRetrieveResponse>""".encode()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


# ---- which answer belongs to which request ---------------------------------------------------------------------------------

# Where a request goes ("HOST/PATH", a regular expression), and the answer of so many rows.
ROUTES: tuple[tuple[str, Callable[[int], bytes]], ...] = (
    (r"archive\.org/services/search/beta/page_production/", archive_text),
    (r"archive\.org/advancedsearch\.php", archive_items),
    (r"archive\.org/metadata/.*", archive_record),
    (r"www\.loc\.gov/collections/chronicling-america/", loc_pages),
    (r"www\.loc\.gov/item/.*", loc_record),
    (r"www\.loc\.gov/.*", loc_items),
    (r"data\.bnf\.fr/sparql", bnf_works),
    (r"catalogue\.bnf\.fr/api/SRU", bnf_catalogue_records),
    (r"openlibrary\.org/search\.json", openlibrary_works),
    (r"openlibrary\.org/works/.*", lambda rows: openlibrary_record()),
    (r"gallica\.bnf\.fr/SRU", gallica_documents),
)
