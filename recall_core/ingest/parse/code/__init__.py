"""Source code: find its definitions and their names.

`parsers`: the parsers, and definitions by line patterns where there is no grammar.
`definitions`: definitions from a syntax tree, by a query per language.
`units`: marks made from definitions.
`languages`: the language of a file; imports no grammar.
"""
