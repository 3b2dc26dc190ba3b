"""A store in a schema of a Postgres database with pgvector. The only package that uses psycopg."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store.postgres import schema, write
else:
    __getattr__ = attach(__name__)
