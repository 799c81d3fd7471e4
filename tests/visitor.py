"""The workbench asked without a network: a visitor is a browser's cookies, token and origin."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from starlette.testclient import TestClient

from assay.workbench.access import Access
from assay.workbench.app import make_app
from assay.workbench.bench import Workbench

HOME = "http://127.0.0.1:8377"


class Visitor:
    """One browser."""

    def __init__(
        self, bench: Workbench, *, name: str = "", access: Access | None = None, **limits: Any
    ) -> None:
        self.client = TestClient(
            make_app(bench, access, **limits), base_url=HOME, raise_server_exceptions=True
        )
        self.client.headers["accept"] = "text/html"
        self.token = ""
        if name:
            self.client.cookies.set("assay-name", name)

    def get(self, path: str, **more: Any) -> Any:
        answer = self.client.get(path, follow_redirects=False, **more)
        found = re.search(r'name="assay-token" content="([0-9a-f]{64})"', answer.text)
        self.token = found[1] if found else self.token
        return answer

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        if not self.token:
            self.get("/name")
        sent = {"origin": HOME, "x-assay-token": self.token, **headers}
        return self.client.post(path, json=body, headers=sent, follow_redirects=False)


def row_id() -> str:
    return uuid4().hex
