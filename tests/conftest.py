"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from raised import Raised

# A busy machine, or a first call that loads a vocabulary, is no fault of the property. A check of a change
# asks the same examples each time, so that what it says is about the change; elsewhere each run asks others.
settings.register_profile("assay", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    """Let a whole run of the tests prove that it makes every error."""
    config.pluginmanager.register(Raised(config), "raised")
