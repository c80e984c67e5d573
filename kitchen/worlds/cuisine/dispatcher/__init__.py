"""The dispatcher of MindAgent (arXiv 2309.09971, section 4): one central mind that commands many seats.

What the model is told at every step, in this order: a fixed part (`prompt`: who is who, `guide`: recipes,
instructions, inference knowledge, `demonstration`), the last exchanges (`memory`), the present state
(`state`) with the feedback on the last step (`feedback`). What it answers goes through `extraction` (free
text) or `tool` (a structured reply), then through `validation`, which looks one step ahead. `talk` is one
decision's conversation, `door` the way to the model, `mind` ties it together. Each part is a setting
(`options`). Spec: `mindagent.md`.
"""
