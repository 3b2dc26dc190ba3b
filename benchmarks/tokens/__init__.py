"""What the budget's estimate is made from and held against: the vocabularies of language models."""
