"""A server that asks every kind of question, and what happens when it is answered."""
