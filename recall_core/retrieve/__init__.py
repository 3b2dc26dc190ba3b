"""From a question to an answer: understand it, pool every candidate with all its values, rank, page."""

from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan, plan_query, plan_rql, plan_words, replan

__all__ = ["Answer", "Plan", "plan_query", "plan_rql", "plan_words", "replan"]
