"""Texts that break cutters: the strategies of all tests of reading and cutting."""

from __future__ import annotations

from hypothesis import strategies as st

_FRAGMENTS = [
    "a", "b", "word ", "two words", ".", ". ", "! ", "?! ", "… ", "Dr. ", "e.g. ", "3.14 ", "it's ", "a_b",
    "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\t", " ", "   ", "\u00a0", "\u3000", "\u2028", "\x1c", "\x85",
    "\x0b", "\0", "\ufeff", "\u200b", "\u200d", "\u00ad", "e\u0301", "\ufb01", "\ue000", "\ufffd",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "日本語。", "「はい。」", "한국어 ", "שלום ",
    "# Head\n", "## Sub ##\n", "Title\n=====\n", "```\n", "```py\n# no heading\n```\n", "~~~\n", "- item\n",
    "> quote\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "---\n", "    code\n", "<div>", "<|endoftext|>",
]  # fmt: skip

nasty_text = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=4), max_size=30).map("".join)
"""Text of awkward pieces, and of arbitrary code points (lone surrogates are no text, and left out)."""

repetitive_text = st.lists(st.sampled_from(["tick ", "tock ", "tick", "\n\n", ". "]), max_size=30).map(
    "".join
)
"""Text that says the same again and again: the trap of every search for a place."""
