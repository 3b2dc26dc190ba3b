"""What a process keeps of a store that it asks again: keys, vectors, postings and filters as arrays."""
