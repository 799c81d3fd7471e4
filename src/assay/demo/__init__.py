"""The bundled corpus and golden set."""
