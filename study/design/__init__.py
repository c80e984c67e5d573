"""What a study is: conditions, questions, parts, orders, versions, and what freezes them."""
