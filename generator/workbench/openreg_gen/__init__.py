"""The workbench: examines any PrivateUse1 backend of PyTorch by its device's name, whoever wrote it, and `cpu` for its own tests.

Each tool is a module that `python -m openreg_gen.TOOL --device NAME` runs, and a verb of the command `openreg-gen`, which
runs it with the environment's Python. What a tool needs to know about a backend, and no interface of PyTorch's says, it
takes from `torch.NAME._workbench`: see `openreg_gen.protocol`.
"""
