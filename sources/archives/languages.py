"""Languages: the MARC code that catalogues file, the two-letter code people write, and the English name.

Source: ISO 639-2 (bibliographic codes, which MARC uses) beside ISO 639-1, as the Library of Congress publishes both.
"""
from __future__ import annotations

from ..errors import InvalidInput

# MARC code, two-letter code, terminological code where it differs (else -), English name
_TABLE = """
aar aa - Afar
abk ab - Abkhazian
afr af - Afrikaans
aka ak - Akan
alb sq sqi Albanian
amh am - Amharic
ara ar - Arabic
arg an - Aragonese
arm hy hye Armenian
asm as - Assamese
ava av - Avaric
ave ae - Avestan
aym ay - Aymara
aze az - Azerbaijani
bak ba - Bashkir
bam bm - Bambara
baq eu eus Basque
bel be - Belarusian
ben bn - Bengali
bis bi - Bislama
bos bs - Bosnian
bre br - Breton
bul bg - Bulgarian
bur my mya Burmese
cat ca - Catalan
cha ch - Chamorro
che ce - Chechen
chi zh zho Chinese
chu cu - Church Slavic
chv cv - Chuvash
cor kw - Cornish
cos co - Corsican
cre cr - Cree
cze cs ces Czech
dan da - Danish
div dv - Divehi
dut nl nld Dutch
dzo dz - Dzongkha
eng en - English
epo eo - Esperanto
est et - Estonian
ewe ee - Ewe
fao fo - Faroese
fij fj - Fijian
fin fi - Finnish
fre fr fra French
fry fy - Western Frisian
ful ff - Fulah
geo ka kat Georgian
ger de deu German
gla gd - Scottish Gaelic
gle ga - Irish
glg gl - Galician
glv gv - Manx
gre el ell Greek
grn gn - Guarani
guj gu - Gujarati
hat ht - Haitian
hau ha - Hausa
heb he - Hebrew
her hz - Herero
hin hi - Hindi
hmo ho - Hiri Motu
hrv hr - Croatian
hun hu - Hungarian
ibo ig - Igbo
ice is isl Icelandic
ido io - Ido
iii ii - Sichuan Yi
iku iu - Inuktitut
ile ie - Interlingue
ina ia - Interlingua
ind id - Indonesian
ipk ik - Inupiaq
ita it - Italian
jav jv - Javanese
jpn ja - Japanese
kal kl - Kalaallisut
kan kn - Kannada
kas ks - Kashmiri
kau kr - Kanuri
kaz kk - Kazakh
khm km - Khmer
kik ki - Kikuyu
kin rw - Kinyarwanda
kir ky - Kirghiz
kom kv - Komi
kon kg - Kongo
kor ko - Korean
kua kj - Kuanyama
kur ku - Kurdish
lao lo - Lao
lat la - Latin
lav lv - Latvian
lim li - Limburgan
lin ln - Lingala
lit lt - Lithuanian
ltz lb - Luxembourgish
lub lu - Luba-Katanga
lug lg - Ganda
mac mk mkd Macedonian
mah mh - Marshallese
mal ml - Malayalam
mao mi mri Maori
mar mr - Marathi
may ms msa Malay
mlg mg - Malagasy
mlt mt - Maltese
mon mn - Mongolian
nau na - Nauru
nav nv - Navajo
nbl nr - South Ndebele
nde nd - North Ndebele
ndo ng - Ndonga
nep ne - Nepali
nno nn - Norwegian Nynorsk
nob nb - Norwegian Bokmål
nor no - Norwegian
nya ny - Chichewa
oci oc - Occitan
oji oj - Ojibwa
ori or - Oriya
orm om - Oromo
oss os - Ossetian
pan pa - Panjabi
per fa fas Persian
pli pi - Pali
pol pl - Polish
por pt - Portuguese
pus ps - Pushto
que qu - Quechua
roh rm - Romansh
rum ro ron Romanian
run rn - Rundi
rus ru - Russian
sag sg - Sango
san sa - Sanskrit
sin si - Sinhala
slo sk slk Slovak
slv sl - Slovenian
sme se - Northern Sami
smo sm - Samoan
sna sn - Shona
snd sd - Sindhi
som so - Somali
sot st - Southern Sotho
spa es - Spanish
srd sc - Sardinian
srp sr - Serbian
ssw ss - Swati
sun su - Sundanese
swa sw - Swahili
swe sv - Swedish
tah ty - Tahitian
tam ta - Tamil
tat tt - Tatar
tel te - Telugu
tgk tg - Tajik
tgl tl - Tagalog
tha th - Thai
tib bo bod Tibetan
tir ti - Tigrinya
ton to - Tonga
tsn tn - Tswana
tso ts - Tsonga
tuk tk - Turkmen
tur tr - Turkish
twi tw - Twi
uig ug - Uighur
ukr uk - Ukrainian
urd ur - Urdu
uzb uz - Uzbek
ven ve - Venda
vie vi - Vietnamese
vol vo - Volapük
wel cy cym Welsh
wln wa - Walloon
wol wo - Wolof
xho xh - Xhosa
yid yi - Yiddish
yor yo - Yoruba
zha za - Zhuang
zul zu - Zulu
"""
_ROWS = tuple(tuple(line.split(" ", 3)) for line in _TABLE.strip().splitlines())
_MARC_OF = {code: row[0] for row in _ROWS for code in row[:3] if code != "-"}
_NAME_OF = {row[0]: row[3] for row in _ROWS}
LANGUAGES = tuple(_NAME_OF.items())  # MARC code and English name, in the order of the codes


def marc_code(code: str) -> str:
    """The MARC code for a two- or three-letter code; an unknown three-letter code is taken as MARC's own.

    Raises:
        InvalidInput: a two-letter code that ISO 639-1 does not list, or no code at all.
    """
    wanted = code.strip().lower()
    if wanted in _MARC_OF:
        return _MARC_OF[wanted]
    if len(wanted) == 3 and wanted.isascii() and wanted.isalpha():
        return wanted
    raise InvalidInput(f"language is {code!r}, which is no language code known here.",
                       hint="Give a three-letter MARC code (fre, ger, chi) or a two-letter code (fr, de, zh).")


def language_name(code: str) -> str | None:
    """The English name of a language, None when the table has none ("grc", "mul")."""
    return _NAME_OF.get(marc_code(code))
