"""The pages of docs/reference, made from docstrings, fields and example values of the code."""
