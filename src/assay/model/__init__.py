"""The nouns: frozen, slotted, keyword-only; no I/O."""
