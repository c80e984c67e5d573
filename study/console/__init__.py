"""The researcher's console: where a study is designed without code, previewed and frozen."""
