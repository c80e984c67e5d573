"""A preregistration as files to hand over: the bundle, the same to read, and how to check its hash."""

from __future__ import annotations

import json

from kitchen.machine.archives import zip_of
from study.design.models import Study, Version

README = """\
Preregistration of “{title}”, version {number}, frozen {at}.

preregistration.json  the bundle, as it was frozen: design, orders, prompts, models, and by whom, when and
                      with which program
preregistration.html  the same to read; it needs no other file and no network

Its SHA-256 is

  {sha256}

To compute it again without the program that wrote it:

  python3 -c "
  import hashlib, json
  bundle = json.load(open('preregistration.json', encoding='utf-8'))
  told = {under}
  text = json.dumps(told, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
  print(hashlib.sha256(text.encode()).hexdigest())"
"""
WHOLE = "{name: bundle[name] for name in ('format', 'content', 'frozen', 'program')}"
CONTENT = "bundle['content']"


def bundle_text(version: Version) -> str:
    """The bundle as JSON for people and programs."""
    return json.dumps(version.bundle, indent=2, sort_keys=True, ensure_ascii=False)


def handed_over(study: Study, version: Version, page: str) -> bytes:
    """A ZIP of the bundle, of `page`, which says the same, and of what they are; always the same bytes."""
    assert version.bundle and version.frozen_at  # noqa: S101 - it is frozen
    readme = README.format(
        title=study.title,
        number=version.number,
        at=version.bundle["frozen"]["at"],
        sha256=version.bundle["sha256"],
        under=WHOLE if version.bundle["format"] > 1 else CONTENT,
    )
    texts = {
        "README.txt": readme,
        "preregistration.html": page,
        "preregistration.json": bundle_text(version),
    }
    files = {name: text.encode() for name, text in texts.items()}
    return zip_of(files, folder=f"{study.slug}_preregistration_{version.number}", at=version.frozen_at)
