"""What outlasts a session: history, layout, keys and reports, in the person's own folders."""
