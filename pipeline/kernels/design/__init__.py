"""Designed samples: the questions are declared, and the labels go where they answer them."""
