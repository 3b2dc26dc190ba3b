"""One SQLite file with full text (FTS5), vectors (sqlite-vec) and metadata. The only room that knows apsw."""
