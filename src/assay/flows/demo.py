"""``assay demo``: the bundled project in a folder of the user's, to run and to change.

Rooms: demo (the files), store (atomic writes), then the same evaluation as ``assay run``.
"""

from __future__ import annotations

from pathlib import Path

from assay.demo import project_files
from assay.flows.project import FILE
from assay.model.errors import Fault, InputError
from assay.store.atomic import write_bytes


def copy_demo(folder: Path) -> bool:
    """Copy the demo project into a folder; return False when it is there already, and leave it as it is.

    Raises:
        InputError: the folder holds something else.
    """
    if (folder / FILE).is_file():
        if not (folder / "handbook").is_dir():
            raise InputError(
                Fault(where=str(folder), what="holds another project", fix="assay demo OTHER-FOLDER")
            )
        return False
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            Fault(where=str(folder), what="is there and holds something else", fix="assay demo OTHER-FOLDER")
        )
    # The settings come last: a folder that has them is whole.
    for name, content in sorted(project_files().items(), key=lambda file: file[0] == FILE):
        write_bytes(folder / name, content)
    return True
