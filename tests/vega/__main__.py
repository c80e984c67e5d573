"""Build `static/vendor/vega/vega.min.js` as one module (`make vega`): Vega-Lite, Vega, and its interpreter,
which does not need `eval`. It downloads them and esbuild from npm, and accepts only files with the expected
hashes.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from brigade.paths import base_dir
from tests.three.__main__ import ESBUILD, OPTIONS, fetch

VEGA = (
    "vega/-/vega-6.4.0.tgz",
    "rHXCq2LpEWCLMjXBEj7hocY9G0/i5TGYRayGGSj06VTF4+l2IG2Z7oeZKCjWbUh/7hTE/mVhbaOPB72wCElh6g==",
)
VEGA_LITE = (
    "vega-lite/-/vega-lite-6.4.3.tgz",
    "d/7hPjfz560UERaQuTmGgIVfXAe3g2hJWeC+igDeaGohUdEoNrHLXgR/yTOBT8vV/lIuuKnw+0/xWWblkDwkMQ==",
)
INTERPRETER = (
    "vega-interpreter/-/vega-interpreter-2.3.2.tgz",
    "JDAoi3taFcCDLujZG84TNNUXdkAZ5WsSHssx8lWVYaxb9Slsjk7v7PtRIYXpSlUwLaKGRBqoJ9KDs36Z0eMEIw==",
)
"""Paths of the packages at npm, each with its SHA-512 in npm's format."""
MADE = base_dir() / "static" / "vendor" / "vega" / "vega.min.js"
ENTRY = """\
import vega from "{vega}/vega.cjs";
import vegaLite from "{lite}/vega-lite.cjs";
import {{ expressionInterpreter }} from "{interpreter}/build/vega-interpreter.js";
const {{ View, parse }} = vega;
const {{ compile }} = vegaLite;
export {{ View, compile, expressionInterpreter, parse }};
"""


def main() -> None:
    """Download the packages, join them to one module, and write it."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        named = {"vega": VEGA, "lite": VEGA_LITE, "interpreter": INTERPRETER}
        found = {name: fetch(package, folder / name) for name, package in named.items()}
        esbuild = fetch(ESBUILD, folder / "esbuild") / "bin" / "esbuild"
        entry = folder / "entry.js"
        entry.write_text(ENTRY.format(**found))
        for name, script in (("vega", "vega"), ("lite", "vega-lite")):  # no modules, whatever they are named
            (found[name] / "build" / f"{script}.min.js").rename(found[name] / f"{script}.cjs")
        alias = [f"--alias:{name}={found['vega'] / 'vega.cjs'}" for name in ("vega", "vega-util")]
        subprocess.run([esbuild, entry, *OPTIONS, *alias, f"--outfile={MADE}"], check=True)


if __name__ == "__main__":
    main()
