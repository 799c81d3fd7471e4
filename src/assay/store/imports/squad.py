"""SQuAD's own layout (version 1 and 2, XQuAD): one JSON file of articles, paragraphs and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Option, Options, counted
from assay.store.imports.pins import Pins
from assay.store.imports.squad_fulldoc import sentence_around
from assay.store.jsonl import read_raw


class _Answer(msgspec.Struct):
    text: str
    answer_start: int


class _Question(msgspec.Struct):
    id: str | int
    question: str
    answers: list[_Answer] = []
    is_impossible: bool = False


class _Paragraph(msgspec.Struct):
    context: str
    qas: list[_Question]


class _Article(msgspec.Struct):
    paragraphs: list[_Paragraph]
    title: str = ""


class _Set(msgspec.Struct):
    data: list[_Article]


_BETWEEN = "\n\n"


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.glob("*.json*") if file.name.endswith((".json", ".json.gz")))


def _detect(path: Path) -> bool:
    files = _files(path)
    return bool(files) and all(_looks_like_squad(file) for file in files)


def _looks_like_squad(path: Path) -> bool:
    if not path.name.endswith((".json", ".json.gz")):
        return False
    try:
        value = json.loads(read_raw(path))
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "data" in value and b'"qas"' in read_raw(path)


def _parse(path: Path, options: Options) -> Imported:
    files = _files(path)
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise InputError(
            Fault(where=str(path), what=f"one file is one set; here are: {names}", fix="name one of them")
        )
    (file,) = files
    try:
        articles = msgspec.json.decode(read_raw(file).removeprefix(b"\xef\xbb\xbf"), type=_Set).data
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            Fault(
                where=str(file),
                what=f"not SQuAD's layout: {error}",
                fix="name a file as SQuAD publishes it: data, paragraphs, qas",
            )
        ) from error
    whole = options["documents"] == "article"
    documents: list[Document] = []
    placed: list[tuple[str, int, _Paragraph]] = []
    for number, article in enumerate(articles, start=1):
        name = article.title.replace("/", "_") or f"article-{number:03}"
        texts = [paragraph.context for paragraph in article.paragraphs]
        if whole:
            documents.append(Document(id=f"{name}.txt", text=_BETWEEN.join(texts), title=_title(name)))
        start = 0
        for place, paragraph in enumerate(article.paragraphs, start=1):
            if whole:
                placed.append((f"{name}.txt", start, paragraph))
                start += len(paragraph.context) + len(_BETWEEN)
            else:
                doc_id = f"{name}/{place:03}.txt"
                documents.append(Document(id=doc_id, text=paragraph.context, title=_title(name)))
                placed.append((doc_id, 0, paragraph))
    pins = Pins({document.id: document for document in documents})
    name = file.name.removesuffix(".gz").removesuffix(".json")
    queries = tuple(_queries(placed, pins, name, sentences=options["anchors"] == "sentence"))
    golden = GoldenSet(name=name, queries=queries)
    return Imported(
        golden=golden,
        documents=tuple(documents),
        notices=(*_unanswered(golden), *pins.notices()),
        counts=counted(golden, documents, paragraphs=len(placed), **pins.counts()),
    )


def _title(name: str) -> str:
    return name.replace("_", " ")


def _queries(
    placed: Sequence[tuple[str, int, _Paragraph]], pins: Pins, source: str, *, sentences: bool
) -> Iterator[Query]:
    for doc_id, shift, paragraph in placed:
        for question in paragraph.qas:
            spans = dict.fromkeys(
                (answer.answer_start + shift, answer.text) for answer in question.answers if answer.text
            )
            anchor = _one_item(str(question.id), doc_id, list(spans), pins, sentences=sentences)
            yield Query(
                id=str(question.id),
                text=question.question,
                anchors=() if anchor is None or question.is_impossible else (anchor,),
                answerable=not question.is_impossible,
                provenance=Provenance(origin="imported", source=source),
            )


def _one_item(
    query_id: str, doc_id: str, spans: Sequence[tuple[int, str]], pins: Pins, *, sentences: bool
) -> Anchor | None:
    """Return the answers of several annotators as one item: any one of them suffices."""
    text = pins.documents[doc_id].text
    anchors: dict[tuple[int | None, int | None, str], Anchor] = {}
    for place, (start, quote) in enumerate(spans):
        at = (start, start + len(quote))
        if sentences and text[at[0] : at[1]] == quote:
            at = sentence_around(text, *at)
            quote = text[at[0] : at[1]]  # noqa: PLW2901 - the sentence takes the answer's place
        anchor = pins.anchor(query_id, f"a1.{place}" if place else "a1", doc_id, quote, at)
        anchors.setdefault((anchor.start, anchor.end, anchor.quote), anchor)
    if not anchors:
        return None
    first, *others = anchors.values()
    return Anchor(
        id="a1",
        doc_id=doc_id,
        quote=first.quote,
        start=first.start,
        end=first.end,
        alternatives=tuple(others),
    )


def _unanswered(golden: GoldenSet) -> Iterator[Notice]:
    ids = tuple(query.id for query in golden.queries if query.answerable and not query.anchors)
    if ids:
        text = f"{len(ids)} questions have no answer and do not say that there is none: {listed(ids)}"
        yield Notice(code="unlabelled", text=text, ids=ids)


FORM = Form(
    name="squad",
    about="SQuAD's layout (1.1, 2.0, XQuAD): one JSON file of articles, paragraphs, questions, answers.",
    detect=_detect,
    parse=_parse,
    options={
        "anchors": Option(
            about="the answer itself, pinned to its place, or the sentence around it",
            default="answer",
            choices=("answer", "sentence"),
        ),
        "documents": Option(
            about="what a document is: an article (its paragraphs joined by a blank line), or a paragraph",
            default="article",
            choices=("article", "paragraph"),
        ),
    },
)
