"""Tools that check and generate the documentation and the release.  They are not installed."""
