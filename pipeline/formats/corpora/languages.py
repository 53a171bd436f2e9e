"""Languages of plain text: abbreviations, elided words, and language detection.

The lists are our own. They contain abbreviations before capital letters or numbers inside
sentences: titles, initials, references. Words like "etc." or "Inc.", which often end sentences, are
excluded. Compared with the sentence break suppressions of the Unicode CLDR 48.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Language:
    """Rules of a language for the plain-text reader.

    Parameters
    ----------
    name : str
        Its English name.
    common : str
        Frequent words, used for detection.
    abbreviations : str
        Words whose final full stop (omitted here) does not end a sentence.
    numbered : str
        The same before numbers: No. 5.
    ordinals : bool
        One or two digits and a full stop are an ordinal number: 3. Mai.
    elided : str
        Regular expression for words before an apostrophe that are separate tokens: l'homme.
    initials : str
        Regular expression for initials of names.
    marks : str
        Additional end-of-sentence marks.
    """

    name: str
    common: str = ""
    abbreviations: str = ""
    numbered: str = ""
    ordinals: bool = False
    elided: str = ""
    initials: str = r"\p{Lu}"
    marks: str = ""


_ROMANCE = "[cdjlmnst]"
ANY = Language(
    "any language",
    abbreviations="Mr Mrs Ms Dr Drs Prof St",
    numbered="No Nos Nr Vol Fig",
    initials=r"[\p{Lu}--I]",
)
"""Rules for unknown languages."""
NO_RULES = "none"
"""Code for text without language rules."""

LANGUAGES = {
    "ca": Language(
        "Catalan",
        "de la el que els les amb per una és del al dels en va no com més aquest però",
        "Sr Sra Srs Sres Srta Dr Dra Drs Prof D Mn Gral St Sta Av Avda C cf p.ex",
        "núm núms pàg pàgs vol art cap fig p pp",
        elided=r"[dlmnst]",
    ),
    "cs": Language(
        "Czech",
        "a se na je že v s z do o jako po ale jsem by to byl pro který jeho ve už",
        "p pí sl Dr dr Mgr Ing Bc MUDr JUDr PhDr RNDr prof Prof doc sv Sv gen plk kpt např tzv"
        " tj srov",
        "č čís str obr tab odst čl kap",
        ordinals=True,
    ),
    "da": Language(
        "Danish",
        "og det at er som på til en af han ikke der med jeg var den for hun havde de",
        "Hr hr Fr fr Frk frk Dr dr Prof prof Skt Kgl kgl f.eks bl.a d.v.s dvs jf jfr",
        "nr Nr s kap fig bd",
        ordinals=True,
    ),
    "de": Language(
        "German",
        "und der die das nicht ich ist zu den mit sich ein auf es im von eine dem war sie wie auch",
        "Hr Hrn Fr Frl Dr Drs Prof Dipl Ing St Sr Se Ew Hl hl Kgl kgl Kais Frhr Graf Gen Maj Lt"
        " Hptm Obst"
        " Rittm Gebr Fa Fam Abt Adj Assist Dir Präs Min Sekr Stud stud cand med phil jur theol"
        " habil"
        " bzw bspw ca cf ggf inkl exkl max min resp sog vgl Vgl vergl Vergl geb gest gen gez"
        " verh verw"
        " ehem röm griech lat franz frz engl dt dtsch österr schweiz ital span u.a z.B d.h i.e"
        " s.o s.u"
        " u.U o.g z.T m.E i.d.R v.a a.d z d u i v o a m h s Jan Feb Apr Aug Sept Okt Nov Dez evtl",
        "Nr Nrn No Art Abs Abb Anm Bd Bde Bl Fig Fn H Hft Jg Kap Lfg P S Sp Str T Tab Taf Teil"
        " Ziff Z",
        ordinals=True,
    ),
    "el": Language(
        "Greek",
        "και το να του η την της με που από τα στο δεν για είναι θα σε ο οι τον στην ότι",
        "κ κος κα Δρ δρ καθ Αγ αγ Στρ π.χ δηλ βλ πρβλ",
        "αρ αριθ σελ τόμ κεφ εικ άρθρ",
        marks=";\u037e",
    ),
    "en": Language(
        "English",
        "the of and to a in that it was he his with as for had you not be at her on is she but my",
        "Mr Mrs Ms Mx Messrs Mme Mdme Mlle Dr Drs Prof Profs St Sts Ste Rev Revd Hon Rt Capt Cap"
        " Capn"
        " Col Gen Lt Lieut Maj Sgt Sergt Serg Corp Cpl Pte Adm Cmdr Gov Sen Rep Pres Fr Bro Mt Ft"
        " Mgr Insp Supt Det Cllr Esqr vs viz cf Cf ca approx Approx e.g E.g i.e I.e"
        " Jan Feb Apr Aug Sept Oct Nov Dec Univ Dept dept est ed eds Ed Eds transl",
        "No Nos no nos Vol Vols vol vols Fig Figs fig figs p pp Ch ch Chap chap Sec sec Sect Art"
        " art Bk Pt"
        " Ps Eq eq Ex Mar Jun Jul Sep Mon Tue Tues Wed Thu Thurs Fri l ll v vv",
        initials=r"[\p{Lu}--I]",
    ),
    "es": Language(
        "Spanish",
        "de la que el en y a los se del las un por con no una su para es al lo como más pero",
        "Sr Sra Srs Sres Sras Srta Srtas Dr Dra Dres D Dª Dña Da Prof Ud Uds Vd Vds Sto Sta Sto"
        " Fr Mons"
        " Excmo Excma Ilmo Ilma Rvdo Gral Cnel Cap Tte Lic Ldo Lda Ing Arq Avda Av Bco Dpto Depto"
        " p.ej cf cfr vid",
        "núm núms n.º pág págs p pp vol vols art arts cap caps fig figs t",
    ),
    "et": Language(
        "Estonian",
        "ja on ei et see ta oli mis ma ka kui oma siis aga kes nii mu ning sest nagu",
        "hr pr prl Dr dr Prof prof nt st s.o vt vrd",
        "nr lk jn ptk",
        ordinals=True,
    ),
    "fi": Language(
        "Finnish",
        "ja on ei että se hän oli mutta kun niin ole myös hänen minä sen mitä joka kuin ovat"
        " sitten",
        "hra rva nti Hra Rva Nti tri Tri prof Prof toht esim ks vrt mm ts",
        "nro s ss kpl luku",
        ordinals=True,
    ),
    "fr": Language(
        "French",
        "de la le et les des en un du une que est dans qui il pour au pas sur ne se par je vous"
        " elle",
        "M MM Mr Mrs Mme Mmes Mlle Mlles Mgr Me Dr Drs Pr St Ste Sts Stes R.P P Gal Col Cdt Cap"
        " Lt Sgt"
        " cf Cf av ap boul bd janv févr avr juil sept oct nov déc env apr",
        "art chap ch fig figs no nos n° t vol vols p pp pag éd liv pl",
        elided=rf"{_ROMANCE}|qu|jusqu|lorsqu|puisqu|quoiqu",
    ),
    "hr": Language(
        "Croatian",
        "i je u se na da su za od što kao ne bi koji to s iz ali sam po samo nije bio",
        "g gđa gđica gosp gđ dr Dr prof Prof mr doc ing sv Sv npr tj tzv usp",
        "br str sl čl gl",
        ordinals=True,
    ),
    "hu": Language(
        "Hungarian",
        "a az és hogy nem is egy volt ez azt meg de csak már mint ha még el aki vagy",
        "dr Dr prof Prof özv ifj id Szt szt gr br pl ill vö ún",
        "sz o p köt fej",
        ordinals=True,
    ),
    "it": Language(
        "Italian",
        "di e che la il un a per in una non è si con i da del le della ma al come gli più lo",
        "Sig sig Sigg Sig.ra Sig.na Sigra Signa Dott dott Dr Dott.ssa Prof prof Ing Avv avv Arch"
        " Geom Rag"
        " On on Mons Mgr S SS Sr Cav Comm Gen Col Cap Magg Ten Serg Rev cfr Cfr",
        "n nn num pag pagg p pp vol voll art artt cap capp fig figg tav",
        elided=r"[cdglmnstv]|gl|un|dell|all|nell|dall|sull|coll|quest|quell|bell|sant|com|dov|cos|senz"
        r"|tutt|nessun|alcun|ciascun|anch|mezz|pover|grand|buon",
    ),
    "lt": Language(
        "Lithuanian",
        "ir kad į tai yra iš su buvo bet kaip jis jo ne ar dar tik prie savo už apie",
        "p ponas dr Dr prof Prof šv Šv kun gen plk pvz pan vad žr",
        "nr Nr psl t sk",
    ),
    "lv": Language(
        "Latvian",
        "un ir ar ka no par bija kas to uz viņš bet lai arī tas es vai kā pie tad",
        "dr Dr prof Prof sv Sv kungs k-gs piem sk",
        "Nr nr lpp att",
        ordinals=True,
    ),
    "nl": Language(
        "Dutch",
        "de het een en van ik te dat die in was niet zijn hij op is met zij voor er als ze maar",
        "dhr Dhr mr Mr mevr Mevr mw Mw mej Mej dr Dr drs Drs prof Prof ir Ir ing Ing ds Ds St"
        " jhr Jhr"
        " bijv bv nl vgl zgn ca d.w.z o.a m.n",
        "nr nrs blz p pp art hfst afb fig deel",
    ),
    "no": Language(
        "Norwegian",
        "og det er på i til en som av ikke for han jeg med de var den hun seg så etter å",
        "Hr hr Fru Frk frk Dr dr Prof prof St Kgl kgl f.eks bl.a dvs jf jfr",
        "nr Nr s kap fig bd",
        ordinals=True,
    ),
    "oc": Language(
        "Occitan",
        "de la que los lo e las un es dins del una per amb al mai coma son pas",
        "M Mme Dr Sr Sra St cf",
        "núm p pp vol",
        elided=r"[cdjlmnst]|qu",
    ),
    "pl": Language(
        "Polish",
        "i w nie na się z do to że jest jak a o ale po co za od tak już by jego był",
        "p pp dr Dr hab prof Prof mgr inż ks św Św o br im ul al gen płk mjr kpt por np tzn tzw"
        " tj m.in por",
        "nr str s rys tab art ust pkt t rozdz",
    ),
    "pt": Language(
        "Portuguese",
        "de a que o e do da em um para não com uma os no se na por mais as dos como mas foi ao",
        "Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa D Exmo Exma Il.mo Ilmo Ilma V Vª S Sto"
        " Sta Fr Pe"
        " Gen Cel Cap Ten Av Eng p.ex cf",
        "n núm pág págs p pp vol vols art arts cap caps fig figs t",
    ),
    "ro": Language(
        "Romanian",
        "de și în a la nu cu care pe că o din un să se este mai pentru lui ce fi era dar",
        "dl Dl dna Dna dra Dra dr Dr prof Prof ing sf Sf Sfân gen col cpt lt cf",
        "nr Nr pag p pp vol art cap fig alin",
    ),
    "ru": Language(
        "Russian",
        "и в не на что он с я как его но это она то а все по же было так за к от",
        "г гг гр г-н г-жа ул им акад проф доц д-р св Св ген полк кн тов т.е т.к т.н напр ср см",
        "стр с рис табл гл т п пп ст",
    ),
    "sk": Language(
        "Slovak",
        "a sa na je že v s z do o ako po ale som by to bol pre ktorý jeho vo už si",
        "p pí sl Dr dr Mgr Ing Bc MUDr JUDr PhDr RNDr prof Prof doc sv Sv gen plk kpt napr tzv tj",
        "č čís str obr tab ods čl kap",
        ordinals=True,
    ),
    "sl": Language(
        "Slovenian",
        "in je v se na da so za ki ne pa bi z kot po ali sem od tudi mu bil še",
        "g ga gdč dr Dr prof Prof mag doc ing sv Sv npr tj tim prim",
        "št str sl čl pogl",
        ordinals=True,
    ),
    "sv": Language(
        "Swedish",
        "och att det i en som på är av för med han den till inte jag om hon var de sig ett",
        "hr Hr fr frk Frk dr Dr prof Prof kand S:t S:ta f.d t.ex bl.a d.v.s dvs jfr ev",
        "nr Nr s kap fig bd",
    ),
    "tr": Language(
        "Turkish",
        "ve bir bu da de için ne o çok ile gibi daha mi ama var diye kadar sonra ben en değil",
        "Sn sn Dr dr Prof prof Doc Doç Yrd Av Müh Hz Alb Bnb Yzb Gen vb örn bkz krş",
        "no No s sf Md md bl",
        ordinals=True,
    ),
    "uk": Language(
        "Ukrainian",
        "і в не на що він з я як його та це до а але було за й у так від про",
        "п пп гр ім акад проф доц д-р св Св ген полк кн т.є напр див пор",
        "стр с рис табл гл т ст п",
    ),
}  # fmt: skip
"""Languages with rules for plain text, by ISO 639-1 code."""

_SCRIPTS = {
    "zh": "\u4e00-\u9fff\u3400-\u4dbf",
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "th": "\u0e01-\u0e5b",
    "lo": "\u0e81-\u0edf",
    "km": "\u1780-\u17ff",
    "my": "\u1000-\u109f",
    "he": "\u0590-\u05ff",
    "ar": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
    "hy": "\u0530-\u058f",
    "ka": "\u10a0-\u10ff",
}
_NAMES = {
    "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "th": "Thai", "lo": "Lao", "km": "Khmer",
    "my": "Burmese", "he": "Hebrew", "ar": "Arabic", "hi": "Hindi", "hy": "Armenian",
    "ka": "Georgian",
}  # fmt: skip
WITHOUT_BLANKS = ("zh", "ja", "th", "lo", "km", "my")
"""Languages written without blanks between words."""
CODES = (*sorted(LANGUAGES), *_NAMES)
"""All known languages."""

_WORDS = re.compile(r"[^\W\d_]+")
_FEWEST_KINDS, _FEWEST, _LEAD = 3, 0.08, 1.2
_MOST_LETTERS = 0.3


def language_name(code: str) -> str:
    """Return the English name of a language; "an unknown language" for no code.

    Examples
    --------
    >>> language_name("de"), language_name("th"), language_name("")
    ('German', 'Thai', 'an unknown language')
    """
    if code in LANGUAGES:
        return LANGUAGES[code].name
    return _NAMES.get(code, "an unknown language")


def guess_language(text: str) -> str:
    """Return the code of the language of a text; "" if unclear.

    Determined by script if it is unique among `CODES`, or else by the share of words that are among
    the most frequent of a language. This share must be at least 8 %, with three distinct words, and
    1.2 times that of the next language.

    Parameters
    ----------
    text : str
        A few hundred words or more.

    Examples
    --------
    >>> guess_language("The dog ran to the house and it was not there.")
    'en'
    >>> guess_language("Der Hund lief zu dem Haus, und es war nicht da.")
    'de'
    >>> guess_language("これは本です"), guess_language("1 2 3")
    ('ja', '')
    """
    words = Counter(_WORDS.findall(text.lower()))
    total = words.total()
    if code := _by_script("".join(words)):
        return code
    kinds, counts = Counter[str](), Counter[str]()
    for word, count in words.items():
        for each in _frequent_words().get(word, ()):
            kinds[each] += 1
            counts[each] += count
    shares = sorted(
        (
            (counts[each] / total if kinds[each] >= _FEWEST_KINDS else 0.0, each)
            for each in LANGUAGES
        ),
        reverse=True,
    )
    (best, code), (second, _) = shares[:2]
    return code if best >= _FEWEST and best >= _LEAD * second else ""


@cache
def _frequent_words() -> dict[str, list[str]]:
    """Return the most frequent words, each with the languages that have it."""
    languages: dict[str, list[str]] = {}
    for code, language in LANGUAGES.items():
        for word in language.common.split():
            languages.setdefault(word, []).append(code)
    return languages


def _by_script(letters: str) -> str:
    if letters.isascii():
        return ""
    counts = {code: len(re.findall(f"[{each}]", letters)) for code, each in _SCRIPTS.items()}
    code = max(counts, key=lambda each: counts[each])
    if counts[code] < _MOST_LETTERS * max(1, len(letters)):
        return "ja" if counts["ja"] and counts["zh"] else ""
    return "ja" if code == "zh" and counts["ja"] * 20 > counts["zh"] else code


def language_of(code: str) -> Language:
    """Return the rules of a language; `ANY` if unknown, no rules for `NO_RULES`."""
    return Language("no language", initials="") if code == NO_RULES else LANGUAGES.get(code, ANY)


def abbreviation_patterns(code: str, more: Iterable[str] = ()) -> list[str]:
    r"""Return regular expressions for abbreviations and initials with their full stop.

    The group of each is the text before the full stop. Words and initials are separate, since a
    list of words alone matches twenty times as fast.

    Parameters
    ----------
    code : str
        The language; "" if unknown.
    more : iterable of str
        Further abbreviations, without the full stop.

    Examples
    --------
    >>> abbreviation_patterns("none", ["Bd", "Abb"])
    ['\\b(Abb|Bd)\\.']
    """
    own = language_of(code)
    words = dict.fromkeys([*own.abbreviations.split(), *more])
    listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [rf"\b({each})\." for each in (listed, own.initials) if each]


def number_patterns(code: str) -> list[str]:
    """Return regular expressions for full stops before a number or a capital letter.

    Abbreviations (No. 5), and ordinal numbers in some languages (3. Mai). The groups are the text
    before and after the full stop.
    """
    own = language_of(code)
    words = "|".join(re.escape(word) for word in own.numbered.split())
    return [
        *([rf"\b({words})\.(\s*\pN)"] if words else []),
        *([r"\b(\pN{1,2})\.(\s+\p{Lu})"] if own.ordinals else []),
    ]
