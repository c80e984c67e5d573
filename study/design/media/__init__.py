"""Check, name and describe the images, sounds, videos and downloads of a study's pages."""
