"""Personal data in queries: masked by its form, counted by its kind, and never masked twice."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.building import masking
from assay.building.masking import Masker, card_holds, iban_holds, installed_detector, looks_random


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("reset mfa for ada.lovelace+x@mail.example.co.uk now", "reset mfa for <email> now"),
        ("write to ada (at) example.org", "write to <email>"),
        ("key sk-proj-a8F3kLm29XcQ71bZp0R4tYw6 fails", "key <key> fails"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "<key>"),
        ("AKIAIOSFODNN7EXAMPLE denied", "<key> denied"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_1 expired", "jwt <key> expired"),
        ("Authorization: Bearer abcdef0123456789ABCDEF", "Authorization: Bearer <key>"),
        ("password: hunter22 does not work", "password: <key> does not work"),
        ("my password is s3cret99", "my password is <key>"),
        ("password is wrong", "password is wrong"),
        ("what is a token", "what is a token"),
        ("postgres://me:pw1234@db/x", "postgres://<key>@db/x"),
        ("pay to GB82 WEST 1234 5698 7654 32 today", "pay to <iban> today"),
        ("pay to GB82 WEST 1234 5698 7654 33", "pay to GB82 WEST 1234 5698 7654 33"),
        ("card 4111 1111 1111 1111 declined", "card <card> declined"),
        ("card 4111-1111-1111-1111", "card <card>"),
        ("order 4111111111111112 lost", "order 4111111111111112 lost"),
        ("from 10.20.30.40 blocked", "from <ip> blocked"),
        ("from 2001:db8::ff00:42:8329 blocked", "from <ip> blocked"),
        ("version 1.2.3 released", "version 1.2.3 released"),
        ("at 300.20.30.40", "at 300.20.30.40"),
        ("std::vector and abc::def at 12:30:45", "std::vector and abc::def at 12:30:45"),
        ("call +44 20 7946 0958 back", "call <phone> back"),
        ("call (020) 7946 0958", "call <phone>"),
        ("call 030 1234567", "call <phone>"),
        ("call 555-867-5309", "call <phone>"),
        ("ssn 078-05-1120", "ssn <id>"),
        ("error E1207 in line 1234567", "error E1207 in line 1234567"),
        ("released 2024-05-01", "released 2024-05-01"),
        ("released 01.05.2024", "released 01.05.2024"),
        ("ISBN 978-3-16-148410-0", "ISBN 978-3-16-148410-0"),
        ("commit get_current_active_user_function", "commit get_current_active_user_function"),
        ("ada\u200b@exam\u00adple.org", "<email>"),
        ("how to scale to 1000000 users", "how to scale to 1000000 users"),
        ("/docs/guides/2024-migration-of-billing-v2", "/docs/guides/2024-migration-of-billing-v2"),
    ],
)
def test_personal_data_is_masked_and_what_only_looks_like_it_stays(text: str, masked: str):
    assert Masker().mask(text).text == masked


def test_every_mask_is_counted_by_its_kind():
    masked = Masker().mask("a@b.org and c@d.org from 10.0.0.7")
    assert masked.counts == {"email": 2, "ip": 1}


def test_names_are_masked_by_the_detector_that_is_given_and_masks_are_never_masked_again():
    def find(text: str) -> list[tuple[int, int]]:
        return [(at, at + 3) for at in range(len(text)) if text[at : at + 3] in {"Ada", "<em"}]

    masked = Masker(find).mask("Ada asked Ada for x@y.org")
    assert masked.text == "<name> asked <name> for <email>"
    assert masked.counts == {"name": 2, "email": 1}


def only_spacy(name: str) -> object:
    return object() if name == "spacy" else None


def test_a_detector_is_taken_only_where_it_has_a_model(monkeypatch: pytest.MonkeyPatch):
    def models() -> list[str]:
        return []

    module = ModuleType("spacy")
    module.util = ModuleType("util")  # type: ignore[attr-defined] # a package that is not installed
    module.util.get_installed_models = models  # type: ignore[attr-defined] # likewise
    monkeypatch.setitem(sys.modules, "spacy", module)
    monkeypatch.setattr(masking, "find_spec", only_spacy)
    assert installed_detector() is None


def test_spacy_finds_names_where_it_is_installed(monkeypatch: pytest.MonkeyPatch):
    class Entity:
        start_char, end_char, label_ = 0, 3, "PERSON"

    class Found:
        ents = (Entity(),)

    module = ModuleType("spacy")
    module.util = ModuleType("util")  # type: ignore[attr-defined] # a package that is not installed
    module.util.get_installed_models = lambda: ["en_core_web_sm"]  # type: ignore[attr-defined] # likewise
    module.load = lambda _: lambda _: Found()  # type: ignore[attr-defined] # likewise
    monkeypatch.setitem(sys.modules, "spacy", module)
    monkeypatch.setattr(masking, "find_spec", only_spacy)
    found = installed_detector()
    assert found is not None
    assert found[0] == "spacy"
    assert Masker(found[1]).mask("Ada lost her key").text == "<name> lost her key"


def test_presidio_is_given_the_installed_model_and_its_language_so_that_it_downloads_none(
    monkeypatch: pytest.MonkeyPatch,
):
    class Analyzer:
        def __init__(self, *, nlp_engine: object, supported_languages: list[str]) -> None:
            assert supported_languages == ["de"]
            self.engine = nlp_engine

        def analyze(self, *, text: str, entities: list[str], language: str) -> list[SimpleNamespace]:
            assert (entities, language) == (["PERSON"], "de")
            assert self.engine == [{"lang_code": "de", "model_name": "de_core_news_sm"}]
            return [SimpleNamespace(start=0, end=text.index(" "))]

    class Provider:
        def __init__(self, *, nlp_configuration: dict[str, Any]) -> None:
            assert nlp_configuration["nlp_engine_name"] == "spacy"
            self.models = nlp_configuration["models"]

        def create_engine(self) -> object:
            return self.models

    def models() -> list[str]:
        return ["de_core_news_sm"]

    def here(_: str) -> object:
        return object()

    for name, parts in (
        ("spacy", {"util": SimpleNamespace(get_installed_models=models)}),
        ("presidio_analyzer", {"AnalyzerEngine": Analyzer}),
        ("presidio_analyzer.nlp_engine", {"NlpEngineProvider": Provider}),
    ):
        module = ModuleType(name)
        module.__dict__.update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(masking, "find_spec", here)
    found = installed_detector()
    assert found is not None
    assert found[0] == "presidio_analyzer"
    assert Masker(found[1]).mask("Ada hat den Schlüssel").text == "<name> hat den Schlüssel"


def test_check_digits_are_those_of_the_published_examples():
    # ISO 13616 registry examples; the usual test numbers of card schemes.
    assert all(map(iban_holds, ["DE89370400440532013000", "FR1420041010050500013M02606", "NO9386011117947"]))
    assert all(map(card_holds, ["5555555555554444", "378282246310005", "6011111111111117"]))
    assert not card_holds("0000000000000000")
    assert not looks_random("internationalisation2024")


@given(st.text(max_size=80))
def test_masking_never_fails_and_masking_twice_is_masking_once(text: str):
    once = Masker().mask(text).text
    assert Masker().mask(once).text == once
