"""What `dev/stack`, `dev/up`, `dev/down` and `dev/demo` are made of. Standard library only; Linux only."""
