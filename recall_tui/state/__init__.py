"""The session: what the workbench knows, and how events and actions change it. Pure, without a screen."""
