"""Whether texts that are cut where their units begin are found better: judged questions on code and on manuals."""
