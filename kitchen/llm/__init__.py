"""The one door to language models: messages in; text or a structured list of commands, and usage, out.

`base` is the contract, `providers` are behind it, `wrappers` (retry, budget, transcript) around it;
`registry` finds them and puts them together, `prices.toml` says what they cost. Plain Python; keys come from
the environment only.
"""
