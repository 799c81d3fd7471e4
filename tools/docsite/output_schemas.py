"""The JSON Schemas of what ``--json`` prints and of the files of a project.

``python tools/docsite/output_schemas.py`` writes them to docs/schemas. Every object is closed: a key that is
printed and not described there fails a test.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docsite.building_schemas import BUILDING
from docsite.file_schemas import FILES
from docsite.measuring_schemas import MEASURING
from docsite.schema_forms import Schema
from docsite.sweep_schemas import SWEEPING

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"
OUTPUTS: Mapping[str, tuple[str, Schema]] = {**MEASURING, **BUILDING, **SWEEPING, **FILES}
"""Name -> title and schema."""


def output_schema(name: str) -> Schema:
    """Return a whole schema, as it is published."""
    title, schema = OUTPUTS[name]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json"}
    return {**head, "title": title, **schema}


if __name__ == "__main__":
    for one in OUTPUTS:
        text = json.dumps(output_schema(one), indent=2, ensure_ascii=False) + "\n"
        (FOLDER / f"{one}.schema.json").write_text(text, encoding="utf-8")
