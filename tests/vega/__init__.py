"""What figures in browsers use of others."""
