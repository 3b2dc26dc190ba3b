"""What a word is: the indexed form of a text, its terms, and where each is in the text."""
