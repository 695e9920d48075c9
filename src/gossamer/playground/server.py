"""The server of the page: on this machine only, and only for those who know the token."""

from __future__ import annotations

import json
import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from gossamer.errors import GossamerError
from gossamer.playground.answers import Playground
from gossamer.playground.page import content_policy, make_page

HOST: Final = "127.0.0.1"
_LONGEST_REQUEST: Final = 20_000
_SECONDS_TO_SEND: Final = 20


class PlaygroundServer(ThreadingHTTPServer):
    """Serves one page, and the answers that it asks for.

    Attributes:
        token: What addresses must begin with.
    """

    daemon_threads = True

    def __init__(self, playground: Playground, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(18)
        self.playground = playground
        self.page = make_page(playground).encode("utf-8")
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that leave before they are answered."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers `GET /TOKEN/` with the page, and `POST /TOKEN/answer` with numbers."""

    server: PlaygroundServer
    timeout = _SECONDS_TO_SEND
    server_version = "Gossamer"
    sys_version = ""

    def do_GET(self) -> None:
        if self._asks_for(""):
            self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        if not self._asks_for("answer"):
            return
        length = self.headers.get("Content-Length", "")
        is_number = length.isdecimal() and len(length) <= len(str(_LONGEST_REQUEST))
        if not is_number or int(length) > _LONGEST_REQUEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too long.")
            return
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST, "The request is not JSON.")
            return
        try:
            answer = self.server.playground.answer(asked)
        except GossamerError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._send_json(HTTPStatus.OK, answer)

    def _asks_for(self, name: str) -> bool:
        """Whether the address has the token; else the request is refused.

        The host is compared as well: another site could have its own name point to this machine.
        """
        wanted = f"/{self.server.token}/{name}"
        given = self.path.encode("utf-8", "replace")
        is_right = secrets.compare_digest(given, wanted.encode())
        if is_right and self.headers.get("Host") in self.server.hosts:
            return True
        self._refuse(HTTPStatus.NOT_FOUND, "There is no such page, or the token is wrong.")
        return False

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True  # what was sent is perhaps not read
        self._send_json(status, {"error": reason})

    def _send_json(self, status: HTTPStatus, content: Any) -> None:
        text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        self._send(status, text.encode("utf-8"), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Content-Security-Policy", content_policy())
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the address has the token in it."""


def make_server(playground: Playground, port: int = 0) -> PlaygroundServer:
    """Make the server, which `serve_forever()` runs.

    Args:
        playground: What answers.
        port: The port; 0: any that is free.

    Example:
        >>> server = make_server(Playground())
        >>> page_address(server).startswith("http://127.0.0.1:")
        True
        >>> server.server_close()
    """
    return PlaygroundServer(playground, port)


def page_address(server: PlaygroundServer) -> str:
    """Return the address to open in a browser."""
    return f"http://{HOST}:{server.server_port}/{server.token}/"
