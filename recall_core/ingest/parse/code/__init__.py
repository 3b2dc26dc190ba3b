"""Source code: where its definitions begin and what they are called.

`parsers` has the parsers. `definitions` finds definitions in a syntax tree by the query of a language, `parsers` by
lines alone where there is no grammar. `units` makes marks of both. `languages` says which language a file is in, and
imports no grammar.
"""
