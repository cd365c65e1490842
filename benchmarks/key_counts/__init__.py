"""Programs that ask the same five questions with different libraries; `benchmarks.keys` types the answers."""
