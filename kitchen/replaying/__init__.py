"""Episodes that were played, once more, from their seed and what was commanded: the same states, and the
same pages.

`record` has all that is stored of an episode, `course` plays it again, `deciding` asks its language models'
co-players again, `verifying` says whether it all is as it was. `rewound` is the turn as it was open then,
`seen` what was seen and decided in it, `lines` and `moments` tell of it, `timeline` draws all of
it, with what `activity` finds that seats did. `exported` is an episode as one file.
"""
