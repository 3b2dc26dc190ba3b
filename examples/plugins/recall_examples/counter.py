"""A counter for models that read bytes. `recall context --counter bytes WORDS`."""


def count_bytes(text: str) -> int:
    """Return the bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))
