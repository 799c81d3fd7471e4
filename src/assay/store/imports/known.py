"""Which forms there are, and which of them a path looks like."""

from __future__ import annotations

from pathlib import Path

from assay.model.errors import Fault, InputError, nearest
from assay.store.imports import (
    anthropic_docs,
    aragog,
    autorag,
    chroma,
    clapnq,
    columns,
    ir_datasets,
    mteb,
    mtrag,
    qrels,
    ray_docs,
    scifact,
    smart,
    squad,
    squad_fulldoc,
)
from assay.store.imports.form import Form

FORMS: dict[str, Form] = {
    module.FORM.name: module.FORM
    for module in (
        chroma,
        squad_fulldoc,
        squad,
        scifact,
        clapnq,
        anthropic_docs,
        aragog,
        autorag,
        ray_docs,
        mtrag,
        smart,
        qrels,
        ir_datasets,
        mteb,
        columns,
    )
}
"""Name -> form; the order is that of guessing, the particular before the general."""


def form_named(name: str) -> Form:
    """Return the form of that name.

    Raises:
        InputError: there is none; the nearest name is told.
    """
    if name in FORMS:
        return FORMS[name]
    near = nearest(name, list(FORMS))
    fix = f"did you mean {near!r}?" if near else f"known forms: auto, {', '.join(FORMS)}"
    raise InputError(Fault(where="import", what=f"there is no form {name!r}", fix=fix))


def guess_form(path: Path) -> Form:
    """Return the form that a path looks like.

    Raises:
        InputError: nothing is there, or it looks like none.
    """
    if not path.exists():
        raise InputError(
            Fault(
                where=str(path),
                what="there is no such file or folder",
                fix="name the file or folder that was downloaded",
            )
        )
    for form in FORMS.values():
        if form.detect(path):
            return form
    inside = [
        folder.name
        for folder in (sorted(path.iterdir()) if path.is_dir() else ())
        if folder.is_dir() and any(form.detect(folder) for form in FORMS.values())
    ]
    hint = f"one of its folders does: {', '.join(inside)}" if inside else f"name one of {', '.join(FORMS)}"
    raise InputError(Fault(where=str(path), what="looks like no known form", fix=hint))
