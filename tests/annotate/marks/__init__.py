"""Files of marks, read and stored."""
