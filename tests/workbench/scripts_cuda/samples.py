"""Inference with tabs, two devices and a generator."""

import torch
from torch import nn


def sample(model, steps=4, device=None):
	device = device or ("cuda" if torch.cuda.is_available() else "cpu")
	generator = torch.Generator(device=device).manual_seed(4)
	x = torch.zeros(2, 3, device=device)
	for _ in range(steps):
		x = model(x).tanh()
		torch.cuda.empty_cache()
	noise = torch.rand(2, generator=generator, device=device)
	return x, noise


torch.manual_seed(2)
model = nn.Linear(3, 3).to("cuda" if torch.cuda.is_available() else "cpu").eval()
with torch.inference_mode():
	x, noise = sample(model)
	assert noise.shape == (2,)
RESULT = {"losses": x.flatten().tolist(), "on": x.device.type}
