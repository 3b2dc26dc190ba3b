"""A question on one page, as HTML or Markdown: drawn from the response alone."""
