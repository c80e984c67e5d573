"""Ask the running app to replace its processes one at a time: `python -m brigade.restart`.

The command sends the signal SIGUSR1 to the instance that runs in this folder (`brigade.runner`).
"""

from __future__ import annotations

import os
import signal
import sys

from brigade.listen_address import RunError, running_process


def main() -> int:
    """Send the signal SIGUSR1 to the instance that runs in this folder. The instance then replaces its
    processes.

    Return the exit code: 0, or 2 after one line on stderr if no instance runs here.
    """
    try:
        os.kill(running_process(), signal.SIGUSR1)
    except (RunError, OSError) as error:
        print(f"brigade: {error}", file=sys.stderr)
        return 2
    print("brigade: asked to restart one program after the other; it says how far it is where it runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
