"""The reference pipeline: offline, deterministic, every stage's list on record."""
