"""Assay measures retrieval for language models, shows where it fails and proves what mends it."""
