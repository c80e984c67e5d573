"""Imitate Prolific's API on this machine, with faults: slow down, errors, no answer, a wrong token."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TOKEN = "the-token-of-the-tests"
STUDY = "65study"


class StandInProlific:
    """A server with one study, which lists three submissions a page.

    `faults` are taken one by one before a request is answered: a status, or `hang` (no answer), or `lost` (it
    is done, and the answer is lost)."""

    def __init__(self, **submissions: str) -> None:
        self.status, self.places = "UNPUBLISHED", 10
        self.submissions = {f"s{who}": [who, status, ""] for who, status in submissions.items()}
        self.announced: dict[str, str] = {}
        self.paid: list[str] = []
        self.messages: list[str] = []
        self.faults: list[int | str] = []
        self.asked: list[str] = []
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stand_in._answer(self)

            do_POST = do_PATCH = do_GET  # noqa: N815 - the names that `http.server` calls

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, to: BaseHTTPRequestHandler) -> None:
        sent = to.rfile.read(int(to.headers.get("Content-Length") or 0))
        path = to.path.removeprefix("/api/v1/")
        self.asked.append(f"{to.command} {path}")
        fault = self.faults.pop(0) if self.faults else None
        if fault == "hang":
            time.sleep(0.3)
            to.close_connection = True
            return
        told: Any = {}
        if to.headers["Authorization"] != f"Token {TOKEN}":
            status = 401
        elif isinstance(fault, int):
            status = fault
        else:
            asked = urlsplit(path)
            query = parse_qs(asked.query)
            status, told = self._do(to.command, asked.path.strip("/").split("/"), query, sent)
        if fault == "lost":
            to.close_connection = True
            return
        body = json.dumps(told).encode()
        to.send_response(status)
        to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)

    def _do(self, method: str, path: list[str], query: dict[str, list[str]], sent: bytes) -> tuple[int, Any]:  # noqa: C901
        body: dict[str, Any] = json.loads(sent) if sent else {}
        match path:
            case ["studies", study, *_] if study != STUDY:
                return 404, {}
            case ["studies", _] if method == "PATCH":
                self.places = body["total_available_places"]
            case ["studies", _, "transition"]:
                self.status = "ACTIVE"
            case ["studies", _, "submissions"]:
                rows = [
                    {"id": one, "participant_id": who, "status": status, "study_code": code}
                    for one, (who, status, code) in self.submissions.items()
                ]
                page = 3 * int(query.get("offset", ["0"])[0])
                following = f"{self.url}/elsewhere/?offset={page // 3 + 1}" if rows[page + 3 :] else None
                return 200, {"results": rows[page : page + 3], "_links": {"next": {"href": following}}}
            case ["submissions", "bonus-payments"]:
                key = f"65a1-bonus-{len(self.announced)}"
                self.announced[key] = body["csv_bonuses"]
                return 201, {"id": key}
            case ["submissions", one, "transition"]:
                states = {"APPROVE": "APPROVED", "REJECT": "REJECTED", "COMPLETE": "SCREENED OUT"}
                self.submissions[one][1:] = [states[body["action"]], body.get("completion_code", "")]
                self.messages.append(body.get("message", ""))
            case ["submissions", _, "request-return"]:
                self.messages += body["request_return_reasons"]
            case ["bulk-bonus-payments", key, "pay"]:
                if key not in self.announced:
                    return 404, {}
                self.paid.append(key)  # as often as it is asked
                return 202, "Started"
        name = {"id": STUDY, "name": "Ours", "status": self.status, "presentment_currency_code": "GBP"}
        return 200, {**name, "total_available_places": self.places, "places_taken": len(self.submissions)}
