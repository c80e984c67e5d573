"""One view for each page behind a personal link; `study.people.flow` says which one is on."""
