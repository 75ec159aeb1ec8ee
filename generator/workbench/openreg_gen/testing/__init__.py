"""PyTorch's samples, and the forms of an operator: the one source for the workbench and for trees.

A tree's `testing/forms.py` and `testing/opinfos.py` are rendered from these files (templates/package/testing), so they
import nothing of the workbench, and each other by relative imports alone. Jinja2 reads them: they have no double braces.
"""
