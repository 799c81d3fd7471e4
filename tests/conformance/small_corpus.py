"""Four short documents for connectors: what is asked of them, and what must come first."""

from __future__ import annotations

from assay.corpus import chunk_corpus, make_chunker
from assay.model.documents import Chunk, Document

TEXTS = {
    "returns.md": (
        "Refunds reach the card within 14 days of the return being scanned.\n\n"
        "Opened software cannot be returned at all.\n\nA voucher is refunded as a voucher."
    ),
    "delivery.md": (
        "Parcels leave the Rotterdam warehouse every weekday at six.\n\n"
        "A missed delivery is tried again on the next working day."
    ),
    "errors.md": (
        "Code E1207 means that the payment provider refused the card.\n\n"
        "Code E1300 means that the basket was empty at the checkout."
    ),
    "zürich.md": "Die Filiale in Zürich öffnet um neun Uhr – auch „samstags“.",
}
DOCUMENTS = tuple(Document(id=name, text=text) for name, text in TEXTS.items())
QUERIES = ("When do refunds reach the card?", "What does E1207 mean?", "missed delivery")
FIRST = ("returns.md", "errors.md", "delivery.md")
"""The document that stands first for each query."""
NOTHING = "xylophone quartet"


def chunks() -> tuple[Chunk, ...]:
    return tuple(chunk_corpus(DOCUMENTS, make_chunker("paragraphs", {"max_chars": 70})))
