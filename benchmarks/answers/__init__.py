"""Recorded answers: what one checkout of Recall says to seeded random questions, held against what another says."""
