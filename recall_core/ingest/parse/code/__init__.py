"""Source code: where its definitions begin and what they are called.

`parsers` holds the parsers. `definitions` finds definitions in a syntax tree by a query of `queries`, `outline` by
lines alone, where there is no grammar; `units` makes marks of what either found. `languages` tells languages by name.
"""
