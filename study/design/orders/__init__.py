"""Which participant plays which condition when: order schemes, whose turn, what is balanced. Plain Python."""
