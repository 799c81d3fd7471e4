"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from raised import Raised

# A busy machine, or a first call that loads a vocabulary, is no fault of the property. The same examples are
# asked each time, so that what fails is the change's doing; ASSAY_EXPLORE=1 asks others at every run.
settings.register_profile("assay", deadline=None, derandomize="ASSAY_EXPLORE" not in os.environ)
settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    """Let a whole run of the tests prove that it makes every error."""
    config.pluginmanager.register(Raised(config), "raised")
