"""Examples: train policies with NumPy alone, as `docs/train-policies.md` describes."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads only wait for each other
