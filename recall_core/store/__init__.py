"""Where documents live. Each folder is one kind of store behind `ports.Store`."""
