"""The rules of the rotation: pure functions from model to model.

Start with ``decide.py``; it reads from top to bottom as the product works.
"""
