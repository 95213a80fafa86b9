"""``python -m connector.cli`` is ``leadrota``."""

from connector.cli import main

main()
