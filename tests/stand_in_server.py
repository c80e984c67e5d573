"""Imitate the servers of Anthropic and OpenAI on this machine, with scripted answers.

In a test::

    with StandInServer([status(529), reply("noop_agent1")]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)  # OPENAI_BASE_URL: server.url + "/v1"

The answers are given in order; the last one repeats. An answer can be a function of the request's body:
`noop` commands every agent that the prompt names. `server.asked` has the requests without the key.

To use it with a whole running app, start `python -m tests.stand_in_server --port 8765 --script FILE`, where
FILE is a JSON list of answers with the fields of `Answer`. Or use `--mode noop`. Then set
ANTHROPIC_BASE_URL=http://127.0.0.1:8765.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import sys
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.stand_in_batches import StandInBatches

Body = dict[str, Any]
SECRET_HEADERS = ("authorization", "x-api-key")
KINDS = (
    "expired",
    "reply",
    "status",
    "dribble",
    "cut",
    "hang_up",
    "malformed",
    "empty",
    "raw",
    "flood",
    "redirect",
)


@dataclass(frozen=True)
class Answer:
    """One scripted answer. `kind`:

    `reply` (200 with `text` or `call`), `status` (an error of this `status`), `dribble` (a byte every 50 ms,
    without end), `cut` (the connection ends in the middle of the body), `hang_up` (it ends before any),
    `malformed` (200, half of the JSON), `empty` (200, no content), `raw` (200 with `body`), `flood` (a body
    without end, packed if `text` is `gzip`), `redirect` (to the address in `text`), `expired` (in batches).
    """

    kind: str = "reply"
    text: str = ""
    call: Mapping[str, Any] | None = None
    status: int = 200
    retry_after: str = ""
    delay: float = 0.0
    """Seconds before the answer begins."""
    stop: str = ""
    usage: Mapping[str, int] = field(default_factory=lambda: {"input": 100, "output": 20})
    """Token counts as in `kitchen.contract.language_model.Usage`. The server writes them in the form of each
    API."""
    body: Any = None
    message: str = ""
    thought: str = ""
    """The model's thoughts, which the server writes in the form of each API."""
    request_id: str = "req_scripted"
    """The value of the header; empty for a server without request ids."""


Script = Answer | Callable[[Body], Answer]


@dataclass(frozen=True)
class Asked:
    """One received request, without its key."""

    path: str
    headers: Mapping[str, str]
    body: Body


def reply(text: str = "", **more: Any) -> Answer:
    """Return an answer with status 200, with a text or with `call=…`."""
    return Answer("reply", text, **more)


def status(code: int, **more: Any) -> Answer:
    """Return an error answer of the API. `retry_after` is the value of the header."""
    return Answer("status", status=code, **more)


def noop(body: Body) -> Answer:
    """Return an answer with `noop` for every agent that the prompt names, as text, or as `{"reasoning": …,
    "commands": […]}`."""
    agents = sorted(set(re.findall(r"agent[ _]?(\d+)", json.dumps([body.get("system"), body["messages"]]))))
    commands = [f"noop_agent{agent}" for agent in agents]
    text = "\n".join(["Nothing is to be done in this step.", *commands])
    return reply(text, call={"reasoning": "Nothing is to be done.", "commands": commands})


MODES: dict[str, Script] = {"noop": noop}


class StandInServer:
    """A server that answers by the script until it is closed. `asked` has the received requests.
    Thread-safe."""

    def __init__(self, script: Sequence[Script] | Script, port: int = 0, delay: float = 0.0) -> None:
        """Create the server. `delay` is added to the delay of each answer, in seconds."""
        self.delay = delay
        self.script = list(script) if isinstance(script, Sequence) else [script]
        self.asked: list[Asked] = []
        self.batches = StandInBatches(self._answer_entry)
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(port, self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        """Answer in this thread until interrupted."""
        self._server.serve_forever()

    def next_answer(self, asked: Asked) -> Answer:
        """Record the request, and return the next answer of the script."""
        with self._lock:
            step = self.script[min(len(self.asked), len(self.script) - 1)]
            self.asked.append(asked)
        return step if isinstance(step, Answer) else step(asked.body)

    def _answer_entry(self, path: str, body: Body) -> tuple[Answer, Any]:
        """Return the next answer of the script to one request of a batch, and its content."""
        asked = Asked(path, {}, body)
        answer = self.next_answer(asked)
        return answer, _content(answer, asked)


class _Server(ThreadingHTTPServer):
    """An HTTP server that ignores clients which disconnect early. Tests do this on purpose."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, port: int, stand_in: StandInServer) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.stand_in = stand_in

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # header and body in one packet: otherwise Nagle's algorithm adds 40 ms to each answer

    def do_GET(self) -> None:
        """Answer with the list of models in `body`."""
        self.do_POST()

    def do_POST(self) -> None:
        if self.server.stand_in.batches.takes(self.path):
            size = int(self.headers.get("content-length") or 0)
            code, text = self.server.stand_in.batches.answer(self.command, self.path, self.rfile.read(size))
            self._send(code, text.encode())
            return
        asked = self._read()
        answer = self.server.stand_in.next_answer(asked)
        self.server.stand_in.closing.wait(self.server.stand_in.delay + answer.delay)
        try:
            self._answer(answer, asked)
        except ConnectionError:
            self.close_connection = True

    def _read(self) -> Asked:
        size = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        shown = {name: value for name, value in headers.items() if name not in SECRET_HEADERS}
        return Asked(self.path, shown, json.loads(self.rfile.read(size) or b"{}"))

    def _answer(self, answer: Answer, asked: Asked) -> None:
        content = json.dumps(_content(answer, asked)).encode()
        half = content[: len(content) // 2]
        if answer.kind == "hang_up":
            self._hang_up()
        elif answer.kind == "dribble":
            self._dribble()
        elif answer.kind == "flood":
            self._flood(packed=answer.text == "gzip")
        elif answer.kind == "redirect":
            self.send_response(307)
            self.send_header("location", answer.text)
            self.send_header("content-length", "0")
            self.end_headers()
        elif answer.kind == "cut":
            self._send(200, half, announced=len(content))
            self._hang_up()
        elif answer.kind == "malformed":
            self._send(200, half)
        else:
            self._send(answer.status, content, retry_after=answer.retry_after, name=answer.request_id)

    def _send(
        self, code: int, content: bytes, announced: int = 0, retry_after: str = "", name: str = ""
    ) -> None:
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(announced or len(content)))
        if retry_after:
            self.send_header("retry-after", retry_after)
        if name:
            self.send_header("request-id" if self.path.endswith("/messages") else "x-request-id", name)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _dribble(self) -> None:
        self._send(200, b"{", announced=1_000_000)
        while not self.server.stand_in.closing.wait(0.05):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _flood(self, *, packed: bool) -> None:
        """Send spaces until the client leaves."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "application/json")
        if packed:
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        packs = zlib.compressobj(wbits=31)
        while not self.server.stand_in.closing.is_set():
            spaces = b" " * 2**16
            self.wfile.write(packs.compress(spaces) + packs.flush(zlib.Z_SYNC_FLUSH) if packed else spaces)
            self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


# The two APIs


def _content(answer: Answer, asked: Asked) -> Any:
    if answer.kind == "raw":
        return answer.body
    if answer.kind == "status":
        return _error(answer)
    if answer.kind == "empty":
        answer = replace(answer, text="", call=None)
    anthropic = asked.path.endswith("/messages")
    return _message(answer, asked.body) if anthropic else _completion(answer, asked.body)


def _error(answer: Answer) -> Body:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
    error = {"type": kinds.get(answer.status, "api_error"), "message": answer.message or "scripted"}
    return {"type": "error", "error": error, "request_id": "req_scripted"}


def _message(answer: Answer, asked: Body) -> Body:
    """Return an answer of the Messages API: as a call of the requested tool, in the requested format, or as
    text."""
    tools, format_ = asked.get("tools"), asked.get("output_config", {}).get("format")
    blocks: list[Body] = [{"type": "thinking", "thinking": answer.thought, "signature": "scripted"}]
    if answer.call is not None and tools:
        name = tools[0]["name"]
        blocks.append({"type": "tool_use", "id": "toolu_1", "name": name, "input": dict(answer.call)})
    elif answer.call is not None and format_:
        blocks.append({"type": "text", "text": json.dumps(answer.call)})
    elif answer.text:
        blocks.append({"type": "text", "text": answer.text})
    counted = answer.usage
    usage = {
        "input_tokens": counted.get("input", 0),
        "output_tokens": counted.get("output", 0),
        "cache_read_input_tokens": counted.get("cache_read", 0),
        "cache_creation_input_tokens": counted.get("cache_write", 0),
        "output_tokens_details": {"thinking_tokens": counted.get("thinking", 0)},
    }
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": f"{asked.get('model')}-20261121",
        "content": blocks if answer.kind != "empty" else [],
        "stop_reason": answer.stop or ("tool_use" if tools and answer.call else "end_turn"),
        "stop_sequence": None,
        "usage": usage,
    }


def _completion(answer: Answer, asked: Body) -> Body:
    message: Body = {"role": "assistant", "content": answer.text or None}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.call is not None and asked.get("tools"):
        name = asked["tools"][0]["function"]["name"]
        function = {"name": name, "arguments": json.dumps(answer.call)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    counted = answer.usage
    usage = {
        "prompt_tokens": counted.get("input", 0) + counted.get("cache_read", 0),
        "completion_tokens": counted.get("output", 0),
        "prompt_tokens_details": {"cached_tokens": counted.get("cache_read", 0)},
        "completion_tokens_details": {"reasoning_tokens": counted.get("thinking", 0)},
    }
    choice = {"index": 0, "message": message, "finish_reason": answer.stop or "stop"}
    kind = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0}
    return {**kind, "model": asked.get("model"), "choices": [choice], "usage": usage}


# The command line


def read_script(text: str) -> list[Script]:
    """Read a JSON list of answers. An entry may also be the name of a mode. Raises ValueError, which names
    the wrong entry."""
    return [_read_answer(entry, number) for number, entry in enumerate(json.loads(text), 1)]


def _read_answer(entry: Any, number: int) -> Script:
    if isinstance(entry, str) and entry in MODES:
        return MODES[entry]
    try:
        answer = Answer(**entry)
    except TypeError as error:
        raise ValueError(f"answer {number}: {error}") from error
    if answer.kind not in KINDS:
        raise ValueError(f"answer {number}: {answer.kind!r} is not one of {', '.join(KINDS)}")
    return answer


def main() -> None:
    """Serve until interrupted. The first line of output is the address."""
    parser = argparse.ArgumentParser(
        description="A scripted stand-in for the Messages API and chat completions"
    )
    parser.add_argument("--script", type=Path, help="JSON list of answers; the last one is given for ever")
    parser.add_argument("--mode", choices=sorted(MODES), default="noop", help="without a script")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer begins")
    given = parser.parse_args()
    script = read_script(given.script.read_text()) if given.script else MODES[given.mode]
    server = StandInServer(script, given.port, given.delay)
    print(server.url, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
