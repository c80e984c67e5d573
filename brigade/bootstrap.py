"""`python3 brigade/bootstrap.py run|test|check|bench|install|optimum`: the door that `make` comes in by.

Run by whatever Python the machine has, so this file keeps to words that Python 3.0 can read: an old Python
gets one clear line. The work is in `environment.py`, which lies beside it and is found first on the path;
the package `brigade` is not imported, for nothing is installed yet.
"""

import sys

OLDEST = (3, 11)


def complaint(version):  # type: ignore[no-untyped-def]
    """What is wrong with a Python of this version, in one line; nothing for a good one."""
    if tuple(version[:2]) >= OLDEST:
        return ""
    words = "brigade: this is Python %d.%d, and 3.11 or later is needed: try `make run PYTHON=python3.11`\n"
    return words % tuple(version[:2])


if __name__ == "__main__":
    wrong = complaint(sys.version_info)  # type: ignore[no-untyped-call]
    if wrong:
        sys.stderr.write(wrong)
        sys.exit(2)
    import environment  # type: ignore[import-not-found]

    sys.exit(environment.main(sys.argv[1:]))
