"""A world as small as can be in which a macro can be stopped, and in which three seats can talk."""
