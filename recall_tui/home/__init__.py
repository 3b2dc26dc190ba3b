"""What outlasts a session: history, layout, profiles, keys and reports, in the person's own folders."""
