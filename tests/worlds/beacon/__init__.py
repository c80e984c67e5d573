"""Beacon: a keeper shows a light, a pilot steers by it. Rules, version 1.

Two unequal seats. The bay has `width` berths side by side. One of them is the haven: only the keeper (seat 0)
knows which. Only the pilot (seat 1) can move the ship.

Both act at once. The keeper shows a light (`left`, `here` or `right`) or leaves it dark; the pilot steers
`left` or `right`, or waits. A light that is shown in a step is seen after it. What the pilot steers, the
keeper does not see until the ship has moved.

After each step in which the pilot has steered, the distance to the haven counts. When the ship is in the
haven, another berth becomes the haven.

Refusals: unknown_seat, duplicate_seat, senseless (nothing that this seat can do), at_the_edge.

Score. `drift`, the mean distance to the haven after steering, less is better, none before the first; `havens`
that were reached.
"""
