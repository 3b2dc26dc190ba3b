"""Parsers of markup that is read line by line: reStructuredText, AsciiDoc and Org; and what Markdown shares."""
