from __future__ import annotations

from pathlib import Path

import pytest

from assay.model.errors import InputError
from assay.store.judges import load_judges


def test_a_line_that_is_no_record_of_a_judge_is_told_with_its_place(tmp_path: Path):
    path = tmp_path / "judges.jsonl"
    path.write_text('{"judge": 7}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_judges(path)
    assert str(caught.value) == (
        f"{path}:1: Expected `str`, got `int` - at `$.judge`\n  fix: restore the file from git"
    )
