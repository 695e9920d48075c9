"""Which kinds of tables the libraries take: each is tried in a process of its own."""
