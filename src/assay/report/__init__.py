"""What people see; reports never compute."""
