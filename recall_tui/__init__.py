"""The workbench: the terminal program in which people see why a chunk ranks. Importing it loads no Textual."""
