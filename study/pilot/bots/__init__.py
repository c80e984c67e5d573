"""Let synthetic participants (programs) take part in a study through its web pages and websockets, as people
do. They do not read the database."""
