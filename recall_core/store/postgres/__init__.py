"""A store in a schema of a Postgres database with pgvector. The only package that uses psycopg."""
