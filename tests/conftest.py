"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

from raised import Raised

# A busy machine, or a first call that loads a vocabulary, is no fault of the property.
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    """Let a whole run of the tests prove that it makes every error."""
    config.pluginmanager.register(Raised(config), "raised")
