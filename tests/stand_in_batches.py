"""Imitate the batches of Anthropic and OpenAI for `stand_in_server`.

Each request of a batch gets the next answer of the server's script. `status` answers become errors of single
requests, and `expired` answers requests that were never made. A batch has ended once it was looked at
`looks` times. `faults` are HTTP statuses with which the next requests about batches fail.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]
AnswerEntry = Callable[[str, Body], tuple[Any, Any]]
_PATHS = re.compile(r"/v1/(messages/batches|files|batches)")
_ERROR_TYPES = {429: "rate_limit_error", 529: "overloaded_error", 400: "invalid_request_error"}


class StandInBatches:
    """All batches of one server. `made` has the requests of each batch, in order."""

    def __init__(self, answer_entry: AnswerEntry, looks: int = 1) -> None:
        self.answer_entry, self.looks = answer_entry, looks
        self.made: list[list[Body]] = []
        self.faults: list[int] = []
        self._left: list[int] = []
        self._files: dict[str, str] = {}
        self._lock = threading.Lock()

    def takes(self, path: str) -> bool:
        """Return whether this path belongs to a batch API."""
        return _PATHS.match(path) is not None

    def answer(self, method: str, path: str, data: bytes) -> tuple[int, str]:
        """Return the status and the text of the response to a request."""
        with self._lock:
            if self.faults:
                return self.faults.pop(0), json.dumps({"error": {"type": "api_error", "message": "scripted"}})
            if path.endswith(("/results", "/content")):
                return 200, self._files[path.split("/")[-2]]
            if path == "/v1/files":
                return 200, json.dumps({"id": self._stored(_file_in(data)), "object": "file"})
            if method == "POST":
                return 200, json.dumps(self._begin(path, json.loads(data)))
            return 200, json.dumps(self._look(path, path.split("/")[-1]))

    def _stored(self, text: str, name: str = "") -> str:
        name = name or f"file-{len(self._files)}"
        self._files[name] = text
        return name

    def _begin(self, path: str, body: Body) -> Body:
        name = f"batch_{len(self.made)}"
        if path.endswith("/messages/batches"):
            requests = body["requests"]
            lines = [self._message(each) for each in requests]
        else:
            requests = [json.loads(line) for line in self._files[body["input_file_id"]].splitlines()]
            lines = [self._completion(each) for each in requests]
        self.made.append(requests)
        self._left.append(self.looks)
        self._stored("".join(json.dumps(line) + "\n" for line in reversed(lines)), name)
        return self._state(path, name, ended=False)

    def _look(self, path: str, name: str) -> Body:
        number = int(name.removeprefix("batch_"))
        self._left[number] -= 1
        return self._state(path, name, ended=self._left[number] < 0)

    def _state(self, path: str, name: str, *, ended: bool) -> Body:
        if path.startswith("/v1/messages"):
            return {"id": name, "processing_status": "ended" if ended else "in_progress"}
        files = {"output_file_id": name} if ended else {}
        return {"id": name, "status": "completed" if ended else "in_progress", **files}

    def _message(self, request: Body) -> Body:
        answer, content = self.answer_entry("/v1/messages", request["params"])
        result = {"type": "succeeded", "message": content}
        if answer.kind == "expired":
            result = {"type": "expired"}
        elif answer.kind == "status":
            kind = _ERROR_TYPES.get(answer.status, "api_error")
            result = {"type": "errored", "error": {"error": {"type": kind, "message": answer.message}}}
        return {"custom_id": request["custom_id"], "result": result}

    def _completion(self, request: Body) -> Body:
        answer, content = self.answer_entry("/v1/chat/completions", request["body"])
        if answer.kind == "expired":
            error = {"code": "batch_expired", "message": "scripted"}
            return {"custom_id": request["custom_id"], "response": None, "error": error}
        response = {"status_code": answer.status, "body": content}
        return {"custom_id": request["custom_id"], "response": response, "error": None}


def _file_in(data: bytes) -> str:
    """Return the lines of JSON in an uploaded form."""
    lines = data.decode().splitlines()
    return "\n".join(line for line in lines if line.startswith('{"custom_id"'))
