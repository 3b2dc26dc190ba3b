"""What the workbench knows, and how every event and every person changes it: pure, and without a screen."""
