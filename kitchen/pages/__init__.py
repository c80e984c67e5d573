"""Ready-made pages for worlds: one for any world, and one for worlds on a grid."""
