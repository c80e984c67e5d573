"""Build `static/vendor/three/three.min.js`, the parts of three.js that static/js/scene/ imports, as one
module (`make three`). It downloads three.js and esbuild from npm, and accepts only files with the expected
hashes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import subprocess
import tarfile
import tempfile
import urllib.request
from pathlib import Path

from brigade.paths import base_dir

NPM = "https://registry.npmjs.org/"
THREE = (
    "three/-/three-0.187.0.tgz",
    "Qiu7R+Cmh8CstZsY1uJOSWnVlfo7ZtNLV7mF8Jltk3LB3AtDu9cRZlcnRKkAk8Y4z6KKw35z7Y7Urd7jWY8etA==",
)
ESBUILD = (
    "@esbuild/linux-x64/-/linux-x64-0.28.2.tgz",
    "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==",
)
"""Paths of the packages at npm, each with its SHA-512 in npm's format."""
SCENE = base_dir() / "static" / "js" / "scene"
MADE = base_dir() / "static" / "vendor" / "three" / "three.min.js"
IMPORT = re.compile(r"import \{([^}]*)\} from \"[./]*/vendor/three/three\.min\.js\"")
OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=inline")


def names() -> list[str]:
    """Return the names that the modules of the scene import."""
    found = (
        match for file in SCENE.glob("*.js") for match in IMPORT.findall(file.read_text(encoding="utf-8"))
    )
    return sorted({name.strip() for names in found for name in names.split(",") if name.strip()})


def fetch(package: tuple[str, str], folder: Path) -> Path:
    """Download the package and unpack it into this folder. Raises ValueError if its hash differs."""
    path, expected = package
    with urllib.request.urlopen(NPM + path) as answer:  # noqa: S310 - https, above
        content = answer.read()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != expected:
        raise ValueError(f"{path} is not the file that it was")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def main() -> None:
    """Download three.js and esbuild, build the module, and write it."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        three, esbuild = fetch(THREE, folder / "three"), fetch(ESBUILD, folder / "esbuild")
        entry = folder / "entry.js"
        entry.write_text(f'export {{ {", ".join(names())} }} from "{three}/build/three.module.js";\n')
        subprocess.run([esbuild / "bin" / "esbuild", entry, *OPTIONS, f"--outfile={MADE}"], check=True)


if __name__ == "__main__":
    main()
