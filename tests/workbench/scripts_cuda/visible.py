"""Chooses the device by the environment, before CUDA is asked for anything."""

import os

import torch

os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
print("visible:", os.environ.get("CUDA_VISIBLE_DEVICES"))

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(3).to(device)
RESULT = {"losses": x.tolist(), "on": x.device.type}
del os.environ["CUDA_VISIBLE_DEVICES"]
