"""Where documents live: the seam to a store (`port`, `values`), and a folder for each kind of store behind it."""
