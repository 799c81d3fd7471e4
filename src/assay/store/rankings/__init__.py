"""Runs and judgements in other people's forms: TREC, JSONL, JSON, CSV, Parquet, Arrow, frames, records."""
