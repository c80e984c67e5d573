"""Policy files in the database: store, delete, and copy them to this machine."""
