"""Recorded answers: seeded random questions to one checkout of Recall, compared with the answers of another."""
