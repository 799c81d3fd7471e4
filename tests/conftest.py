"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine, or a first call that loads a vocabulary, is no fault of the property.
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")
