"""Provide ready-made play pages: `default_page` for any world, and `grid_page` for worlds on a grid."""
