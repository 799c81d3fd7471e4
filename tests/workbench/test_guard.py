"""What a request must bring, and what every answer carries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from assay.workbench.access import Access, access_for
from assay.workbench.app import ROUTES, make_app
from assay.workbench.bench import Workbench
from assay.workbench.guard import MOST_BYTES
from assay.workbench.rates import Rates
from visitor import HOME, Visitor, row_id

PAGES = ["/", "/label", "/drafts", "/misses", "/compare", "/query", "/judges", "/name"]
CHANGES = sorted({route.path for route in ROUTES if "POST" in (route.methods or ())})


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8377", "localhost.evil", "", "[::2]"]
)
def test_a_name_that_was_rebound_to_this_address_is_refused(ada: Visitor, host: str):
    assert ada.client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9", "LocalHost:8377", "[::1]:8377"])
def test_loopback_goes_by_its_names_on_any_port(ada: Visitor, host: str):
    assert ada.client.get("/name", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", [*PAGES, "/nothing", "/static/label.js", "/static/nothing.js", "/session"])
def test_every_answer_carries_the_headers_that_keep_foreign_text_from_running(ada: Visitor, path: str):
    headers = ada.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] in {"no-store", "no-cache"}


@pytest.mark.parametrize("path", PAGES)
def test_pages_hold_no_script_or_style_of_their_own(ada: Visitor, path: str):
    text = ada.get(path).text
    assert "<style" not in text
    assert " style=" not in text
    assert "onclick" not in text
    assert "<script>" not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text


@pytest.mark.parametrize("path", CHANGES)
def test_nothing_is_changed_without_the_token_of_the_session(ada: Visitor, path: str):
    ada.get("/name")
    for token in ["", "0" * 64, Access().form_token("0" * 32)]:
        answer = ada.post(path, {}, **{"x-assay-token": token})
        assert answer.status_code == 403
        assert answer.json()["code"] == "token"


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1"]
)
def test_nothing_is_changed_from_another_page(ada: Visitor, path: str, origin: str):
    answer = ada.post(path, {}, origin=origin)
    assert answer.status_code == 403
    assert answer.json()["code"] == "refused"


def test_a_request_that_does_not_say_where_it_comes_from_is_refused_unless_the_browser_vouches(ada: Visitor):
    ada.get("/name")
    headers = {"x-assay-token": ada.token, "content-type": "application/json"}
    assert ada.client.post("/work", content=b"{}", headers=headers).status_code == 403
    vouched = headers | {"sec-fetch-site": "same-origin"}
    assert ada.client.post("/work", content=b"{}", headers=vouched).status_code == 400  # "what" is missing
    crossed = headers | {"sec-fetch-site": "same-site"}
    assert ada.client.post("/work", content=b"{}", headers=crossed).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "", "application/xml"])
def test_bodies_that_other_pages_can_send_without_asking_are_refused(ada: Visitor, kind: str):
    assert ada.post("/name", {}, **{"content-type": kind}).status_code == 415


def test_a_form_carries_its_token_in_a_field(ada: Visitor):
    ada.get("/name")
    fields = {"name": "Grace", "back": "/label", "token": ada.token}
    answer = ada.client.post("/name", data=fields, headers={"origin": HOME}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/label")
    assert "assay-name=Grace" in answer.headers["set-cookie"]


@pytest.mark.parametrize("path", CHANGES)
def test_looking_changes_nothing(ada: Visitor, path: str):
    if path in {"/name", "/enter"}:
        return  # these have a page of their own
    assert ada.get(path).status_code in {404, 405}


def test_a_body_is_bounded_whether_it_says_its_length_or_not(ada: Visitor):
    ada.get("/name")
    headers = {"origin": HOME, "x-assay-token": ada.token, "content-type": "application/json"}
    large = b'{"name": "' + b"x" * MOST_BYTES + b'"}'
    assert ada.client.post("/name", content=large, headers=headers).status_code == 413

    def parts() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * (MOST_BYTES // 10)

    assert ada.client.post("/name", content=parts(), headers=headers).status_code == 413


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_object_is_a_mistake_and_no_crash(ada: Visitor, body: bytes):
    ada.get("/name")
    headers = {"origin": HOME, "x-assay-token": ada.token, "content-type": "application/json"}
    answer = ada.client.post("/label/judge", content=body, headers=headers)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]


def test_an_address_that_asks_too_often_is_told_to_wait(bench: Workbench):
    visitor = Visitor(bench, rates=Rates(0.5, 3.0, clock=lambda: 0.0))
    assert [visitor.get("/name").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert visitor.get("/name").headers["retry-after"] == "3"


def test_permits_come_back_with_time():
    now = [0.0]
    rates = Rates(2.0, 2.0, clock=lambda: now[0])
    assert [rates.take("a"), rates.take("a"), rates.take("a"), rates.take("b")] == [0.0, 0.0, 0.5, 0.0]
    now[0] = 0.5
    assert rates.take("a") == 0.0
    assert rates.take("a") == 0.5


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fpages%2flabel.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/label.js%00",
        "/static/",
        "/static/workbench.css/..",
        "/label/..%2f..%2flabels.db",
    ],
)
def test_files_outside_the_list_cannot_be_asked_for(ada: Visitor, path: str):
    assert ada.get(path).status_code == 404


def test_a_file_that_has_not_changed_is_not_sent_twice(ada: Visitor):
    first = ada.get("/static/label.js")
    again = ada.get("/static/label.js", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"


def test_sockets_are_refused(ada: Visitor):
    with pytest.raises(WebSocketDisconnect) as closed, ada.client.websocket_connect("/"):
        pass
    assert closed.value.code == 1008


def test_the_session_is_a_cookie_that_scripts_cannot_read(bench: Workbench):
    cookie = Visitor(bench).get("/name").headers["set-cookie"]
    assert cookie.startswith("assay-session=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("mark", ["../x", "0" * 31, "G" * 32, "0" * 33])
def test_a_session_that_this_program_did_not_make_is_replaced(bench: Workbench, mark: str):
    visitor = Visitor(bench)
    answer = visitor.client.get("/name", headers={"cookie": f"assay-session={mark}"})
    assert "assay-session=" in answer.headers["set-cookie"]


# An address that others can reach


@pytest.fixture
def shared() -> Access:
    access = access_for("0.0.0.0", ("Labels.example.org",))
    assert access.token is not None
    return access


def test_loopback_needs_no_token_and_any_other_address_a_new_one():
    assert access_for("127.0.0.1").token is None
    assert access_for("::1").token is None
    tokens = {access_for(host).token for host in ("0.0.0.0", "192.168.1.7", "::", "lab.example.org")}
    assert None not in tokens
    assert len(tokens) == 4
    assert all(len(token or "") >= 32 for token in tokens)


def test_a_shared_server_goes_by_addresses_and_by_the_names_it_was_given(shared: Access):
    known = ["192.168.1.7:8377", "[fe80::1]:8377", "labels.example.org", "127.0.0.1:80"]
    assert all(shared.knows_host(host) for host in known)
    assert not shared.knows_host("evil.example")
    assert not access_for("192.168.1.7").knows_host("192.168.1.8")


def test_a_name_on_loopback_is_a_proxys_and_needs_the_token_too():
    assert access_for("127.0.0.1", ("labels.example.org",)).token is not None


def test_a_proxy_that_speaks_tls_may_stand_before_it(bench: Workbench):
    visitor = Visitor(bench, access=Access(hosts=frozenset({"labels.example.org"})), name="ada")
    visitor.client.headers["host"] = "labels.example.org"
    for origin, status in (("https://labels.example.org", 303), ("https://other.example.org", 403)):
        assert visitor.post("/name", {"name": "Ada"}, origin=origin).status_code == status


def test_secrets_are_in_no_text_that_may_be_logged(shared: Access):
    assert shared.token is not None
    assert shared.token not in repr(shared)
    assert "secret" not in repr(shared)


def test_without_the_token_there_is_only_the_entrance(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared, name="eve")
    for page in PAGES:
        answer = visitor.get(page)
        assert (answer.status_code, answer.headers["location"]) == (303, "/enter")
    assert visitor.get("/label/state?pool=pool-1", headers={"accept": "application/json"}).status_code == 401
    assert visitor.get("/session", headers={"accept": "application/json"}).status_code == 401
    assert visitor.get("/enter").status_code == 200
    for path in CHANGES:
        if path != "/enter":
            assert visitor.post(path, {"id": row_id()}).status_code == 401


def test_the_right_token_is_exchanged_for_a_cookie(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared)
    visitor.get("/enter")
    answer = visitor.post("/enter", {"offered": shared.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "assay-pass=" in cookie
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert shared.token not in cookie
    assert visitor.get("/").status_code == 200


def test_a_link_with_the_token_leaves_it_behind(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared)
    visitor.get("/enter")
    answer = visitor.get(f"/enter?token={shared.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert visitor.get("/").status_code == 200


def test_a_wrong_token_opens_nothing_and_tries_are_few(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared, entries=Rates(0.01, 3.0, clock=lambda: 0.0))
    visitor.get("/enter")
    tries: list[Any] = [visitor.post("/enter", {"offered": f"guess {n}"}) for n in range(3)]
    assert [one.status_code for one in tries] == [401, 401, 401]
    assert all("assay-pass" not in one.headers.get("set-cookie", "") for one in tries)
    assert visitor.post("/enter", {"offered": shared.token}).status_code == 429
    assert visitor.get(f"/enter?token={shared.token}").status_code == 429


def test_the_pass_of_one_session_does_not_serve_another(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared)
    visitor.get("/enter")
    visitor.post("/enter", {"offered": shared.token})
    passed = visitor.client.cookies["assay-pass"]
    stranger = TestClient(make_app(bench, shared), base_url=HOME, headers={"accept": "text/html"})
    stranger.cookies.set("assay-pass", passed)
    stranger.cookies.set("assay-session", "0" * 32)
    assert stranger.get("/", follow_redirects=False).status_code == 303


def test_where_others_can_come_in_labels_are_not_signed_with_the_login_name(bench: Workbench, shared: Access):
    visitor = Visitor(bench, access=shared)
    visitor.get("/enter")
    visitor.post("/enter", {"offered": shared.token})
    assert visitor.get("/label").headers["location"] == "/name?back=/label"
    answer = visitor.post(
        "/label/judge", {"id": row_id(), "pool": "pool-1", "number": 1, "grade": 1, "elapsed_ms": 5}
    )
    assert answer.status_code == 400
    assert "need a name" in answer.json()["error"]


@pytest.mark.parametrize(
    "back", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_a_name_leads_back_to_this_server_alone(ada: Visitor, back: str):
    assert ada.post("/name", {"name": "ada", "back": back}).headers["location"] == "/"


def test_a_name_is_one_line_without_signs_that_hide(ada: Visitor):
    answer = ada.post("/name", {"name": "A\u202ed\x00a\r\nSet-Cookie: x=1", "back": "/"})
    assert answer.headers.get_list("set-cookie")[0].startswith(
        "assay-name=A%20d%20a%20Set-Cookie%3A%20x%3D1;"
    )
    assert ada.post("/name", {"name": " \u200b\n"}).headers["location"] == "/name"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/label/judge", "labels need a name beside them"),
        ("/drafts/decide", "decisions need a name beside them"),
        ("/misses/decide", "decisions need a name beside them"),
    ],
)
def test_from_another_machine_nothing_is_kept_without_a_name(
    bench: Workbench, shared: Access, path: str, told: str
):
    visitor = Visitor(bench, access=shared)
    visitor.get("/enter")
    visitor.post("/enter", {"offered": shared.token})
    visitor.get("/name")
    answer = visitor.post(path, {"id": row_id()})
    assert (answer.status_code, answer.json()["error"]) == (400, f"{told}\n  fix: give yours at /name")
