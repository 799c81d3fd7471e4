"""How ids are compared: one rule for documents, queries and labels, wherever they come from."""

from __future__ import annotations

from unicodedata import normalize


def id_key(text: str) -> str:
    r"""Return the form in which ids are compared: letters composed (NFC), nothing else is folded.

    >>> id_key("Zu\u0308rich.md") == id_key("Z\u00fcrich.md"), id_key("007") == id_key("7")
    (True, False)
    """
    return text if text.isascii() else normalize("NFC", text)
