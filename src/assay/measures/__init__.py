"""Measures over ranked lists: numbers only, never text."""
