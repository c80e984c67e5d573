"""Decision trees as text: what a line may be, which acts apply, and errors that name their line."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kitchen.worlds.overcooked.written_policy.policy_tree import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_LINES,
    PolicyTreeError,
    PolicyVocabulary,
    parse_policy_tree,
)

VOCABULARY = PolicyVocabulary(("hungry", "soup ready"), ("eat", "cook", "wait"))
TREE = """
if hungry and soup ready:   # a comment
    eat
elif not soup ready:
    if hungry: cook
    else:
        wait
else: cook
wait
"""
TOO_DEEP = "\n".join(" " * depth + "if hungry:" for depth in range(MAX_DEPTH + 1))


def applied(text: str, facts: Collection[str]) -> list[tuple[int, str]]:
    """The numbers and acts of the lines that apply, in order."""
    tree = parse_policy_tree(text, VOCABULARY)
    return [(line.number, act) for line, act in tree.acts(lambda fact: fact in facts)]


def test_acts_that_apply_come_in_the_order_of_their_lines() -> None:
    assert applied(TREE, {"hungry", "soup ready"}) == [(3, "eat"), (9, "wait")]
    assert applied(TREE, {"hungry"}) == [(5, "cook"), (9, "wait")]
    assert applied(TREE, ()) == [(7, "wait"), (9, "wait")]
    assert applied(TREE, {"soup ready"}) == [(8, "cook"), (9, "wait")]


def test_letters_and_spaces_of_a_line_do_not_matter() -> None:
    assert applied("If  NOT hungry :  Eat\r\nwait  ", ()) == [(1, "eat"), (2, "wait")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the tree has no line"),
        ("# nothing\n", "the tree has no line"),
        ("wait\ndance", "line 2: 'dance' is no act; there are eat, cook, wait"),
        ("wait\nif soup redy: eat", "line 2: 'soup redy' is no fact; did you mean soup ready?"),
        ("if tired: eat", "line 1: 'tired' is no fact; there are hungry, soup ready"),
        ("if : eat", "line 1: a fact is missing"),
        ("if hungry or soup ready: eat", "line 1: 'hungry or soup ready' is no fact; "),
        ("if hungry eat", "line 1: a colon is missing"),
        ("if hungry:\nwait", "line 1: an act is missing after the colon, or indented lines below it"),
        ("wait\n  eat", "line 2: this indentation fits no line above"),
        ("if hungry:\n    eat\n  wait", "line 3: this indentation fits no line above"),
        ("  wait", "line 1: the first line is indented"),
        ("if hungry:\n\teat", "line 2: indent with spaces only"),
        ("wait\nelse: eat", "line 2: else has no if before it"),
        ("if hungry: eat\nelse hungry: wait", "line 2: else has no condition; write elif"),
        (TOO_DEEP + "\n" + " " * 9 + "eat", f"line {MAX_DEPTH + 1}: conditions are nested more than"),
        ("wait\n" * (MAX_LINES + 1), f"line {MAX_LINES + 1}: the tree has more than {MAX_LINES} lines"),
        ("#" * (MAX_CHARACTERS + 1), f"the tree has {MAX_CHARACTERS + 1} characters"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, why: str) -> None:
    with pytest.raises(PolicyTreeError) as raised:
        parse_policy_tree(text, VOCABULARY)
    assert str(raised.value).startswith(why)
