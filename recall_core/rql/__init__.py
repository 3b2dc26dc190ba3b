"""RQL, the query language: text to tree and back, and what a filter means."""
