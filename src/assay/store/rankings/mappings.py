"""Objects of objects, as pytrec_eval and ranx take and write them: query -> document -> number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec

from assay.model.errors import Fault, InputError, MissingExtraError
from assay.store.rankings.opening import bare_suffix, unpacked_lz4, whole
from assay.store.rankings.records import take_list
from assay.store.rankings.rows import Rows


def read_json(path: Path, rows: Rows, *, judgements: bool) -> None:
    """Read a JSON file of one object; ranx's ``.lz4`` files hold the same object as CBOR.

    Raises:
        InputError: it is no such object.
        MissingExtraError: a CBOR file, and no package to read it.
    """
    data = whole(path)
    try:
        tree = _cbor(path, data) if _is_cbor(path) else _json(data, str(path))
    except ValueError as error:
        raise InputError(
            Fault(
                where=str(path),
                what=f"not JSON: {error}",
                fix='query -> document -> number: {"q1": {"d3": 0.9}}',
            )
        ) from error
    take_mapping(tree, rows, judgements=judgements)


def take_mapping(tree: object, rows: Rows, *, judgements: bool) -> None:
    """Take an object of objects (or of lists, best first); the n-th query is row n.

    Raises:
        InputError: it is not one.
    """
    if not isinstance(tree, Mapping):
        what = f"should be query -> document -> number, not {type(tree).__name__}"
        raise InputError(Fault(where=rows.where, what=what))
    queries = cast("Mapping[object, object]", tree)
    for row, (query, value) in enumerate(queries.items(), start=1):
        take_list(rows, row, str(query), value, judgements=judgements)


def _json(data: bytes, where: str) -> object:
    tree = cast("object", msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    if not isinstance(tree, dict):
        return tree
    # A parser keeps the last of two equal keys without a word. As many colons as keys: there were none.
    queries = cast("dict[str, object]", tree)
    keys = len(queries) + sum(len(_dict(value)) for value in queries.values())
    return queries if data.count(b":") == keys else _with_repeats(data, where)


def _dict(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _with_repeats(data: bytes, where: str) -> object:
    repeated: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> object:
        found = dict(items)
        if len(found) == len(items):
            return found
        if all(isinstance(value, int | float) for _, value in items):
            return [list(item) for item in items]  # a list of pairs: the repeat meets its check there
        seen: set[str] = set()
        repeated.extend(key for key, _ in items if key in seen or seen.add(key))
        return found

    tree = json.loads(data.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=pairs)
    if repeated:
        raise InputError(
            [Fault(where=where, what=f"query {key!r} stands twice", fix="merge the two") for key in repeated]
        )
    return tree


def _is_cbor(path: Path) -> bool:
    return path.suffix.lower() == ".lz4" and bare_suffix(path) not in {".json", ".jsonl"}


def _cbor(path: Path, data: bytes) -> object:
    try:
        import cbor2  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError(f"{path}: reading ranx's LZ4 files", package="cbor2", extra="ranx") from None
    # ranx packs twice: it writes compressed bytes into a compressed file
    data = unpacked_lz4(data)
    return cast("object", cbor2.loads(data))  # pyright: ignore[reportUnknownMemberType]
