"""A demo server that sends every kind of request, and a program that answers them."""
