"""Embedders and rerankers, one file each."""
