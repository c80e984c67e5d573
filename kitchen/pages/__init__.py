"""Pages that worlds can use as they are: one for any world, and one for worlds on a grid."""
