"""Why not: what keeps a chunk out of an answer, stage by stage, and the smallest changes that bring it in."""
