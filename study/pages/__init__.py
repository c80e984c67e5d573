"""One view for each page behind a personal link; `study.flow` says which one is on."""
