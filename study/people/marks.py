"""What is kept of somebody who was erased: a mark that leads to nobody, and by which a restored backup shows
who must not come back. It is a hash of a name of chance (128 bits) that only that person's row had.
"""

from __future__ import annotations

from hashlib import sha256

from study.people.models import Participant


def mark_of(person: Participant) -> str:
    """64 characters; the same for this person in every backup."""
    return sha256(f"brigade.erased:{person.entry}".encode()).hexdigest()
