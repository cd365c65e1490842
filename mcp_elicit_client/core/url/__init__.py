"""URLs and domain names."""
