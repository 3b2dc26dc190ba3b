"""What each kind of study does: a module a kind, with a function `study(lab, study)` that gives the finding."""
