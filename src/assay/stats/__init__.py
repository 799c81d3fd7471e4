"""Paired tests, intervals, power and agreement."""
