"""Reading what a model replied: one JSON object of the form asked for, or a reason why not. Never a guess.

A code fence or chatter around one whole object is peeled off. Anything else is refused: a list, a bare value,
an object that is cut short, commas where none belong, a field that is missing or of another type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import msgspec

F = TypeVar("F", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[F]):
    """A reply that was read, or refused."""

    value: F | None
    """None when it was refused."""
    why: str = ""
    """Why it was refused: ``not JSON: ...``, ``cut short``, ``a list``, ``not an object``,
    ``anchor is not text``."""

    @property
    def accepted(self) -> bool:
        return self.value is not None


def parse_reply(text: str, form: type[F]) -> Parsed[F]:
    r"""Read one reply.

    Args:
        text: the reply, word for word.
        form: a ``msgspec.Struct`` of the fields asked for; others are ignored unless it forbids them.

    >>> class Asked(msgspec.Struct):
    ...     question: str
    >>> parse_reply('Sure! {"question": "Who?"}', Asked).value
    Asked(question='Who?')
    >>> parse_reply("[]", Asked).why, parse_reply('{"question": "Wh', Asked).why
    ('a list', 'cut short')
    """
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        value, why = _peeled(text, str(error))
        if value is None:
            return Parsed(value=None, why=why)
    if isinstance(value, list):
        return Parsed(value=None, why="a list")
    if not isinstance(value, dict):
        return Parsed(value=None, why="not an object")
    return _converted(cast("dict[str, object]", value), form)


def _peeled(text: str, error: str) -> tuple[object, str]:
    """Return the one whole object that stands inside other text, or None and the reason."""
    decoder = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_object)
    begin = _first_bracket(text)
    if begin is None:
        return None, f"not JSON: {error}" if text.strip() else "empty"
    try:
        value, end = decoder.raw_decode(text, begin)
    except json.JSONDecodeError as inner:
        cut = not text[inner.pos :].strip().strip("`").strip() or inner.msg.startswith("Unterminated string")
        return None, "cut short" if cut else f"not JSON: {_reason(inner)}"
    except (ValueError, RecursionError) as inner:
        return None, f"not JSON: {inner}"
    if _first_bracket(text[end:]) is not None:
        return None, "more than one object"
    return value, ""


def _first_bracket(text: str) -> int | None:
    found = [at for sign in "{[" if (at := text.find(sign)) >= 0]
    return min(found, default=None)


def _reason(error: json.JSONDecodeError) -> str:
    return f"{error.msg[:1].lower()}{error.msg[1:]} at {error.pos}"


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return plain


_NAMES: Mapping[object, str] = {
    str: "text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
}


def _converted(value: dict[str, object], form: type[F]) -> Parsed[F]:
    for field in msgspec.structs.fields(form):
        name = field.encode_name
        if name not in value:
            if field.required:
                return Parsed(value=None, why=f"{name} is missing")
            continue
        try:
            msgspec.convert(value[name], field.type)
        except msgspec.ValidationError as error:
            sentence = str(error).replace("`", "").split(" - at ")[0]
            told = _NAMES.get(field.type)
            why = f"{name} is not {told}" if told else f"{name}: {sentence[:1].lower()}{sentence[1:]}"
            return Parsed(value=None, why=why)
    try:
        return Parsed(value=msgspec.convert(value, form))
    except msgspec.ValidationError as error:
        return Parsed(value=None, why=str(error).replace("`", ""))
