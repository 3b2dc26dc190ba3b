"""The workbench: the terminal program that shows why a chunk ranks where it does. Importing it loads no Textual."""
