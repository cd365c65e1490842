"""What makes and checks the documentation and the release; nothing of it is installed."""
