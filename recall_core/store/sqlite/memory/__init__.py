"""What a process keeps in memory of a store that it asks again: keys, vectors, postings, filters, as arrays."""
