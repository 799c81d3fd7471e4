from __future__ import annotations

import pytest

from assay.model.documents import Document, cut
from assay.model.errors import InputError


@pytest.mark.parametrize(("start", "end"), [(0, 0), (4, 2), (-1, 3), (0, 12)])
def test_a_span_that_is_empty_or_leaves_the_document_is_refused(start: int, end: int):
    with pytest.raises(InputError) as caught:
        cut(Document(id="a.md", text="Alpha beta."), start, end)
    assert str(caught.value) == (
        f"a.md: span [{start}, {end}) is not inside the document (0 to 11)\n"
        "  fix: offsets are code points of the untouched text, end exclusive"
    )
