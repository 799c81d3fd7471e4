"""The workbench: Assay in the browser, for labelling, reviewing and looking at runs.

``app.py`` lists the pages; each is one file in ``pages/`` with its template and, where it needs one, its
script. ``guard.py`` is what every request passes first. ``assay ui`` alone loads Starlette and uvicorn.
"""
