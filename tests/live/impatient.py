"""`make run` for those who kill often: what died is started again soon, however often it dies."""

from __future__ import annotations

import sys

from brigade import runner, supervise

if __name__ == "__main__":
    supervise.LONGEST_WAIT = 0.2
    sys.exit(runner.main())
