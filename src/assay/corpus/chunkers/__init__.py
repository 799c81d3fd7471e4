"""Chunkers: one file each, exact offsets always."""
