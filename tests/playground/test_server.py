"""The server: for this machine, for those who know the token, and for nothing else."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gossamer.cli import main
from gossamer.playground import Playground, make_server, page_address
from gossamer.playground.server import PlaygroundServer


@pytest.fixture(scope="module")
def server() -> Iterator[PlaygroundServer]:
    made = make_server(Playground())
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def ask(
    server: PlaygroundServer,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    found = response.status, response.read(), response.headers
    connection.close()
    return found


def test_it_listens_on_this_machine_only(server: PlaygroundServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert page_address(server) == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    assert len(server.token) >= 24
    other = make_server(Playground())
    assert other.token != server.token and other.server_port != server.server_port
    other.server_close()


def test_the_page_has_all_it_needs(server: PlaygroundServer) -> None:
    status, content, headers = ask(server, "GET", f"/{server.token}/")
    page = content.decode()
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'; connect-src 'self'" in headers["Content-Security-Policy"]
    assert "http://www.w3.org/2000/svg" in page
    assert page.count("http") - page.count("http-equiv") == 1  # nothing is loaded from elsewhere
    assert server.token not in page


@pytest.mark.parametrize("path", ["/", "/answer", "/wrong/", "/wrong/answer", "/{}", "/{}/x", "//"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_without_the_token(server: PlaygroundServer, path: str, method: str) -> None:
    status, content, _ = ask(server, method, path.format(server.token), b"{}")
    assert status == 404 and "token is wrong" in json.loads(content)["error"]


def test_names_of_other_sites_are_refused(server: PlaygroundServer) -> None:
    wrong = {"Host": f"evil.example:{server.server_port}"}
    assert ask(server, "GET", f"/{server.token}/", headers=wrong)[0] == 404
    assert ask(server, "POST", f"/{server.token}/answer", b"{}", wrong)[0] == 404
    right = {"Host": f"localhost:{server.server_port}"}
    assert ask(server, "GET", f"/{server.token}/", headers=right)[0] == 200


def test_answers_are_those_of_the_library(server: PlaygroundServer) -> None:
    asked = {"scene": "circles", "rounds": 10, "round": 4}
    status, content, headers = ask(
        server, "POST", f"/{server.token}/answer", json.dumps(asked).encode()
    )
    assert status == 200 and headers["Content-Type"] == "application/json"
    answer, expected = json.loads(content), Playground().answer(asked)
    del answer["milliseconds"], expected["milliseconds"]
    assert answer == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[" * 5000, 400, "not JSON"),
        (b"[]", 400, "must be an object"),
        (b'{"num_leaves": 1e308}', 400, "num_leaves is out of range"),
        (b'{"learning_rate": NaN}', 400, "learning_rate is out of range"),
        (b'{"scene": "<script>"}', 400, "there is no such example"),
        (b" " * 30_000, 413, "too long"),
    ],
)
def test_bad_requests_are_told_why(
    server: PlaygroundServer, body: bytes, status: int, words: str
) -> None:
    found, content, headers = ask(server, "POST", f"/{server.token}/answer", body)
    assert found == status and words in json.loads(content)["error"]
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("length", ["-1", "many", "+5"])
def test_lengths_that_are_not_numbers(server: PlaygroundServer, length: str) -> None:
    headers = {"Content-Length": length}
    found, _, _ = ask(server, "POST", f"/{server.token}/answer", None, headers)
    assert found == 413


def test_other_methods(server: PlaygroundServer) -> None:
    assert ask(server, "PUT", f"/{server.token}/")[0] == 501


# ---- the command ----


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command would have served: it ends at once, as after Ctrl-C."""
    found: dict[str, Any] = {"opened": []}

    def serve(server: PlaygroundServer) -> None:
        found["playground"] = server.playground
        raise KeyboardInterrupt

    monkeypatch.setattr(PlaygroundServer, "serve_forever", serve)
    monkeypatch.setattr("webbrowser.open", found["opened"].append)
    return found


def test_the_command_opens_the_page(served: dict[str, Any], capsys: Any) -> None:
    assert main(["playground"]) == 0
    out, err = capsys.readouterr()
    address = out.removeprefix("The playground is at ").strip()
    assert address.startswith("http://127.0.0.1:") and served["opened"] == [address]
    assert "has ended" in err
    assert main(["playground", "--no-browser"]) == 0
    assert len(served["opened"]) == 1


def test_the_command_reads_a_file(served: dict[str, Any], tmp_path: Any, capsys: Any) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "flights.csv"
    lines = [f"{i % 24},{i * 7 % 100},{i % 3},{'yes' if i % 24 > 11 else 'no'}" for i in range(200)]
    path.write_text("\n".join(["hour,distance,day,delayed", *lines]))
    assert main(["playground", str(path)]) == 0
    assert served["playground"].columns[0] == "hour"
    assert served["playground"].columns[2] == "delayed"
    columns = ["--target", "distance", "--columns", "day, hour"]
    assert main(["playground", str(path), *columns]) == 0
    assert served["playground"].columns == ("day", "hour", "distance")
    answer = served["playground"].answer({"scene": "file", "rounds": 3})
    assert answer["scene"]["names"] == ["day", "hour"]
    for options, code, words in (
        (["--target", "delay"], 1, "Did you mean delayed"),
        (["--columns", "day"], 2, "--columns takes two columns"),
        (["--columns", "day,delayed", "--target", "hour"], 1, "cannot use this column"),
    ):
        capsys.readouterr()
        assert main(["playground", str(path), *options]) == code
        assert words in capsys.readouterr().err
    assert main(["playground", "--target", "delayed"]) == 2
    assert "name the file first." in capsys.readouterr().err


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "1e3", "", "٣" * 30])
def test_lengths_that_are_none(server: PlaygroundServer, length: str) -> None:
    """Python refuses to read numbers of more than 4,300 digits."""
    host = f"127.0.0.1:{server.server_port}"
    lines = f"POST /{server.token}/answer HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(f"{lines}\r\n\r\n{{}}".encode())
        assert b" 413 " in connection.recv(100)


def test_browsers_that_leave_are_not_mentioned(
    server: PlaygroundServer, capfd: pytest.CaptureFixture[str]
) -> None:
    host = f"127.0.0.1:{server.server_port}"
    body = b'{"rounds": 300, "num_leaves": 63}'
    lines = f"POST /{server.token}/answer HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}"
    for _ in range(3):
        connection = socket.create_connection(("127.0.0.1", server.server_port), timeout=60)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(f"{lines}\r\n\r\n".encode() + body)
        time.sleep(0.05)
        connection.close()  # the next write to it fails
    assert ask(server, "POST", f"/{server.token}/answer", body)[0] == 200  # the others are done
    time.sleep(0.1)
    assert capfd.readouterr().err == ""
