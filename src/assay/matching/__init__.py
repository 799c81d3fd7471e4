"""Anchors are found in documents, and chunks are held against them: text becomes numbers here, once."""
