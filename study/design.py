"""The door to `study.orders` for those who only shuffle."""

from __future__ import annotations

from study.orders.random import random_order

__all__ = ["random_order"]
