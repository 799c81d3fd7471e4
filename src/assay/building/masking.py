"""Personal data and secrets in logged queries, masked before anything is stored.

A mask names what stood there (``<email>``), so that two queries that differ in an address alone become one.
Numbers with a check digit are masked only where it is right, so that part numbers and error codes stay.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

Span = tuple[int, int]
Detector = Callable[[str], Sequence[Span]]
"""Returns where names of people stand in a text."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+(?:@|\s?[\[(]at[\])]\s?)[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_KEYS = (
    re.compile(r"-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)", re.DOTALL),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]*"),  # a JSON web token
    re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|npm|pypi)[-_][\w-]{12,}"),
    re.compile(r"\b(?:AKIA|ASIA|AIza)[\w-]{12,}"),
    re.compile(r"(?<=\bbearer )[\w.~+/=-]{12,}", re.IGNORECASE),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),  # user and password in an address
)
_NAMED_SECRET = re.compile(
    r"\b(?P<name>password|passwd|pwd|passphrase|secret|api[ _-]?key|token)(?P<mark>\s*[:=]\s*|\s+is\s+)"
    r"(?P<value>[\"']?[^\s\"',;<]{4,}[\"']?)",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?<![\w/.-])[A-Za-z0-9+_-]{24,}={0,2}(?![\w/.-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w.])\d(?:[ -]?\d){11,18}(?![\w-])")
_IP4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w.]*\d)")
_IP6 = re.compile(r"(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?(?![\w:])", re.IGNORECASE)
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:"
    r"(?:\+|00)\d{1,3}[ ./-]?(?:\(0?\d{1,5}\)[ ./-]?)?\d(?:[ ./-]?\d){5,12}"  # international
    r"|\(0?\d{2,5}\)[ ./-]?\d(?:[ ./-]?\d){4,9}"  # area code in brackets
    r"|0\d{1,4}[ /-]\d(?:[ ./-]?\d){4,9}"  # area code with a nought
    r"|\d{3}[ .-]\d{3}[ .-]\d{4}"  # North America
    r")(?![\w-])"
)
_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text without personal data."""

    text: str
    counts: Counter[str]
    """Kind of data -> how often it was masked."""


class Masker:
    """Masks e-mail addresses, keys, account and card numbers, IP addresses, telephone numbers, and names.

    Args:
        names: finds names of people; None: names stay.

    >>> Masker().mask("reset mfa for ada@example.org from 10.0.0.7").text
    'reset mfa for <email> from <ip>'
    """

    def __init__(self, names: Detector | None = None) -> None:
        self._names = names

    @property
    def finds_names(self) -> bool:
        return self._names is not None

    def mask(self, text: str) -> Masked:
        """Return the text with a mask in place of everything that may tell of a person."""
        counts: Counter[str] = Counter()
        text = _INVISIBLE.sub("", text)
        for kind, pattern, is_one in _RULES:
            text = _masked(text, kind, pattern, is_one, counts)
        text = _NAMED_SECRET.sub(lambda match: _secret(match, counts), text)
        if self._names is not None:
            for start, end in sorted(self._names(text), reverse=True):
                if "<" not in text[start:end]:
                    text = f"{text[:start]}<name>{text[end:]}"
                    counts["name"] += 1
        return Masked(text=text, counts=counts)


def _masked(
    text: str, kind: str, pattern: re.Pattern[str], is_one: Callable[[str], bool], counts: Counter[str]
) -> str:
    def mask(match: re.Match[str]) -> str:
        if not is_one(match[0]):
            return match[0]
        counts[kind] += 1
        return f"<{kind}>"

    return pattern.sub(mask, text)


def _secret(match: re.Match[str], counts: Counter[str]) -> str:
    value = match["value"].strip("\"'")
    spoken = match["mark"].strip().casefold() == "is" and not any(sign.isdigit() for sign in value)
    if spoken or value.startswith("<") or value.casefold() in {"true", "false", "none", "null"}:
        return match[0]
    counts["key"] += 1
    return f"{match['name']}{match['mark']}<key>"


def _always(found: str) -> bool:
    del found
    return True


def looks_random(found: str) -> bool:
    """Return whether a long run of signs is a key rather than a name: letters and digits well mixed.

    >>> looks_random("a8F3kLm29XcQ71bZp0R4tYw6"), looks_random("get_current_active_user_2")
    (True, False)
    """
    if not (any(sign.isdigit() for sign in found) and any(sign.isalpha() for sign in found)):
        return False
    kinds = ["d" if sign.isdigit() else "u" if sign.isupper() else "l" for sign in found if sign.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= len(kinds) / 4


def iban_holds(found: str) -> bool:
    """Return whether an IBAN's check digits are right (ISO 13616, mod 97).

    >>> iban_holds("GB82 WEST 1234 5698 7654 32"), iban_holds("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    plain = found.replace(" ", "").upper()
    turned = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def card_holds(found: str) -> bool:
    """Return whether a card number's check digit is right (Luhn) and its first digit is a card's.

    >>> card_holds("4111 1111 1111 1111"), card_holds("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(sign) for sign in found if sign.isdigit()]
    if not 12 <= len(digits) <= 19 or digits[0] not in {2, 3, 4, 5, 6} or len(set(digits)) == 1:
        return False
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_ip(found: str) -> bool:
    address = found.partition("/")[0].partition("%")[0]
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(sign.isdigit() for sign in address)  # abc::def is code


def _is_phone(found: str) -> bool:
    return _DATE.fullmatch(found) is None and 7 <= sum(sign.isdigit() for sign in found) <= 16


_RULES: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    *(("key", pattern, _always) for pattern in _KEYS),
    ("email", _EMAIL, _always),
    ("iban", _IBAN, iban_holds),
    ("card", _DIGITS, card_holds),
    ("key", _LONG, looks_random),
    ("ip", _IP4, _is_ip),
    ("ip", _IP6, _is_ip),
    ("id", _SSN, _always),
    ("phone", _PHONE, _is_phone),
)
"""What is looked for, in this order: the more certain before the less."""

DETECTORS = ("presidio", "spacy")
"""Packages that find names of people, the first that is installed first."""


def installed_detector() -> tuple[str, Detector] | None:
    """Return the first detector of names that is installed with a model, and what it is called."""
    for package, make in (("presidio_analyzer", _presidio), ("spacy", _spacy)):
        if find_spec(package) is not None:
            detector = make()
            if detector is not None:
                return package, detector
    return None


def _presidio() -> Detector | None:
    models = [] if find_spec("spacy") is None else _spacy_models()
    if not models:
        return None
    language = models[0].split("_")[0]  # spaCy names its models so: en_core_web_sm
    # Without an engine it would take a model of its own choice, and download it.
    chosen = {
        "nlp_engine_name": "spacy",
        "models": [{"lang_code": language, "model_name": models[0]}],
    }
    engine: Any = import_module("presidio_analyzer.nlp_engine").NlpEngineProvider(nlp_configuration=chosen)
    analyser: Any = import_module("presidio_analyzer").AnalyzerEngine(
        nlp_engine=engine.create_engine(), supported_languages=[language]
    )

    def find(text: str) -> list[Span]:
        found = analyser.analyze(text=text, entities=["PERSON"], language=language)
        return [(one.start, one.end) for one in found]

    return find


def _spacy() -> Detector | None:
    models = _spacy_models()
    if not models:
        return None
    language: Any = import_module("spacy").load(models[0])

    def find(text: str) -> list[Span]:
        return [
            (one.start_char, one.end_char) for one in language(text).ents if one.label_ in {"PERSON", "PER"}
        ]

    return find


def _spacy_models() -> list[str]:
    models: list[str] = import_module("spacy").util.get_installed_models()
    return sorted(models)
