"""The conversation of one decision: questions out, commands in, all of it kept for log and memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kitchen.contract.model import Call, Message, Reply
from kitchen.contract.talk import Say
from kitchen.worlds.cuisine.dispatcher import guide
from kitchen.worlds.cuisine.dispatcher.choosing import Asked, Extracted
from kitchen.worlds.cuisine.dispatcher.door import Door
from kitchen.worlds.cuisine.dispatcher.extraction import extract, extract_call
from kitchen.worlds.cuisine.dispatcher.fitting import calls_tool
from kitchen.worlds.cuisine.dispatcher.jobs import answered_in, is_led, without_jobs
from kitchen.worlds.cuisine.dispatcher.memory import Exchange, Memory
from kitchen.worlds.cuisine.dispatcher.moment import Given, Moment
from kitchen.worlds.cuisine.dispatcher.names import Names
from kitchen.worlds.cuisine.dispatcher.options import Options
from kitchen.worlds.cuisine.dispatcher.people import repeats, said_in, without_words
from kitchen.worlds.cuisine.dispatcher.prompt import fixed_part, repair_part
from kitchen.worlds.cuisine.dispatcher.tool import dispatch_tool
from kitchen.worlds.cuisine.dispatcher.validation import Verdict, validate
from kitchen.worlds.cuisine.dispatcher.wording import Fault

SILENCE = "(no words)"
"""Stands for an empty answer in the memory: providers refuse empty messages."""
LONGEST_PLAN = 160
"""Characters of a plan that people are shown: two lines."""
LONGEST_THOUGHT = 4000
"""Characters of a model's reasoning that people are shown: some pages of the fold that they open."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of asking: `given` are the commands as they were read, `mended` what was wrong before a
    second try."""

    verdict: Verdict
    given: tuple[Given, ...]
    mended: tuple[Fault, ...] = ()


class Talk:
    """One decision's conversation with the model."""

    def __init__(self, moment: Moment, options: Options, memory: Memory, door: Door) -> None:
        self.moment, self.options, self.door = moment, options, door
        self.names = Names.of(moment.brief)
        self.talks = moment.organisation is not None
        tool = dispatch_tool(moment.brief, moment.team, talks=self.talks, led=is_led(moment))
        self.tool = tool if options.as_tool else None
        self.messages = [Message("system", fixed_part(moment, options), fixed=True), *memory.messages()]
        self.remembered = len(memory.messages())
        self.calls: list[Call] = []
        self.asked: list[Exchange] = []

    def decide(self, question: str) -> Answered | None:
        """Ask, look ahead, and ask once more if the settings say so; None if there is no answer."""
        read = self.ask(question, self.moment.team.asked)
        if read is None:
            return None
        verdict = validate(self.moment, read.given, read.unclear)
        missing = [seat for seat in self.moment.team.asked if seat not in dict(verdict.kept)]
        if not self.options.repair or not missing or self.moment.only_answers:
            return Answered(verdict, read.given)
        return self._mend(Answered(verdict, read.given), missing)

    def ask(self, question: str, seats: Sequence[int]) -> Extracted | None:
        """What was read of the model's answer to a question about these seats; None if there is no answer."""
        self.messages.append(Message("user", question))
        call = self.door.ask(self.messages, self.tool)
        self.calls.append(call)
        if call.reply is None:
            return None
        said = spoken(call.reply)
        self.messages.append(Message("assistant", said))
        self.asked.append((question, said))
        return self._read(call.reply, Asked(seats, int(self.moment.observation["step"]) + 1))

    @property
    def exchange(self) -> Exchange:
        """The whole talk as one exchange: the first question, and every answer."""
        return self.asked[0][0], "\n\n".join(said for _, said in self.asked)

    @property
    def plan(self) -> str:
        """What the model says that its agents work towards, in its last structured reply: the first
        paragraph. Empty where it says nothing."""
        calls = [call.reply.call for call in self.calls if call.reply and call.reply.call]
        plan = str(calls[-1].get("plan") or "").strip() if calls else ""
        first = " ".join(plan.partition("\n")[0].split())
        return first if len(first) <= LONGEST_PLAN else f"{first[:LONGEST_PLAN].rstrip()}…"

    @property
    def thought(self) -> str:
        """What the model thought before its last answer, as far as its provider gives that."""
        said = [call.reply.reasoning for call in self.calls if call.reply]
        thought = said[-1].strip() if said else ""
        return thought if len(thought) <= LONGEST_THOUGHT else f"{thought[:LONGEST_THOUGHT].rstrip()}…"

    def _read(self, reply: Reply, asked: Asked) -> Extracted:
        """A structured reply, or where it has no commands whatever stands in the text."""
        read = Extracted() if reply.call is None else extract_call(reply.call, self.names, asked)
        text = without_jobs(without_words(reply.text)) if self.talks else reply.text
        return read if read.given or read.unclear else extract(text, self.names, asked)

    @property
    def line(self) -> str:
        """What the model says to people, in its first answer that says something."""
        said = (said_in(call.reply) for call in self.calls if call.reply)
        return next((line for line in said if line), "") if self.talks else ""

    @property
    def answers(self) -> tuple[Say, ...]:
        """What it says of jobs, in its first answer that says something of them."""
        jobs = [job for job in self.moment.jobs if job.worker == self.moment.member]
        said = (answered_in(call.reply, jobs) for call in self.calls if call.reply)
        answers = next((each for each in said if each), ())
        return tuple(replace(say, text="") if self._repeats(say.text) else say for say in answers)

    @property
    def withheld(self) -> bool:
        """Whether that repeats what it was told to do: then nobody is told."""
        return self._repeats(self.line)

    def _repeats(self, line: str) -> bool:
        return repeats(line, [message.text for message in self.messages if message.fixed])

    def _mend(self, first: Answered, missing: Sequence[int]) -> Answered:
        """Other commands for some agents, run after those that are kept: so they harm none of them."""
        how = {"as_tool": self.options.as_tool, "calls": calls_tool(self.options)}
        form = guide.form(missing, **how) if first.verdict.unread else []
        problems = [fault.text for fault in first.verdict.faults]
        again = self.ask(repair_part(problems, missing, form), missing)
        if again is None:
            return first
        others = [each for each in again.given if each[0] in missing]
        verdict = validate(self.moment, [*first.verdict.kept, *others], again.unclear)
        return Answered(verdict, (*first.given, *again.given), first.verdict.faults)


def spoken(reply: Reply) -> str:
    """An answer as a message of the conversation."""
    said = reply.text if reply.call is None else json.dumps(reply.call)
    return said.strip() or SILENCE
