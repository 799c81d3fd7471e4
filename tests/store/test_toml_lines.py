from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.store.toml_lines import changed_toml, toml_diff

FILE = """\
# our project
name = "demo"
k = 10            # what the prompt gets

[chunker]
name = "paragraphs"
max_chars = 800

[pipeline]
pool = 50
reranker = "lexical"  # fast

[pipeline.embedder]
name = "hashing"
dimensions = 1024

[gate]
"recall@10" = ">= 0.5"
"""


def changed(change: dict[str, Any], text: str = FILE) -> str:
    after = changed_toml(text, change)
    assert after is not None
    return after


def test_a_value_is_changed_in_its_line_and_its_comment_stays():
    assert "k = 5            # what the prompt gets\n" in changed({"k": 5})
    assert 'reranker = "none"  # fast\n' in changed({"pipeline.reranker": "none"})


def test_a_new_key_ends_its_table_and_everything_else_stays():
    after = changed({"chunker.overlap": 100})
    assert after == FILE.replace("max_chars = 800\n", "max_chars = 800\noverlap = 100\n")


def test_a_new_table_of_a_known_one_is_a_dotted_key_there():
    after = changed({"pipeline.fusion.weights.fulltext": 2.0})
    assert 'reranker = "lexical"  # fast\nfusion.weights.fulltext = 2.0\n' in after


def test_a_table_that_is_replaced_goes_whole():
    after = changed({"pipeline.embedder": {"name": "other"}})
    assert "[pipeline.embedder]" not in after
    assert tomllib.loads(after)["pipeline"]["embedder"] == {"name": "other"}


def test_a_short_form_gives_way_to_its_table():
    after = changed({"pipeline.reranker.top_n": 20})
    assert tomllib.loads(after)["pipeline"]["reranker"] == {"name": "lexical", "top_n": 20}


def test_a_table_that_is_not_there_is_added_at_the_end():
    after = changed({"measure.unit": "anchor"})
    assert after.endswith('\n[measure]\nunit = "anchor"\n')


def test_a_key_at_the_top_goes_above_the_first_table():
    after = changed({"seed": 7})
    assert tomllib.loads(after)["seed"] == 7
    assert after.index("seed") < after.index("[chunker]")


def test_what_is_beyond_the_editor_is_said_and_not_guessed():
    assert changed_toml('pipeline = { pool = 50, reranker = "x" }\n', {"pipeline.pool": 100}) is None
    assert changed_toml('text = """\nk = 3\n"""\nk = 1\n', {"k": 5}) is None


def test_the_diff_shows_what_changed_and_nothing_else():
    after = changed({"pipeline.pool": 100})
    diff = toml_diff(FILE, after, "assay.toml").splitlines()
    assert diff[:2] == ["--- a/assay.toml", "+++ b/assay.toml"]
    assert [line for line in diff[2:] if line[0] in "+-"] == ["-pool = 50", "+pool = 100"]
    assert toml_diff(FILE, FILE, "assay.toml") == ""


VALUES = st.one_of(
    st.integers(-5, 5), st.booleans(), st.sampled_from(["off", 'a "quoted" # one', ""]), st.just(0.25)
)
PATHS = st.sampled_from(
    ["k", "chunker.max_chars", "chunker.overlap", "pipeline.pool", "pipeline.reranker", "pipeline.mmr",
     "pipeline.embedder.dimensions", "pipeline.fusion.weights.fulltext", "new.table.key"]
)  # fmt: skip


@given(change=st.dictionaries(PATHS, VALUES, max_size=4))
def test_whatever_comes_out_says_exactly_what_was_asked_for(change: dict[str, Any]):
    after = changed_toml(FILE, change)
    assert after is not None
    read = tomllib.loads(after)
    for path, value in change.items():
        at: Any = read
        for name in path.split("."):
            at = at[name]
        assert at == value
