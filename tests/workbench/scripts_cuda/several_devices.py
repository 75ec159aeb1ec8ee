"""The layers of a model on all devices in turn, spelled in four ways; needs a GPU."""

import torch
import torch.nn as nn

torch.manual_seed(6)
count = torch.cuda.device_count()
layers = [nn.Linear(4, 4) for _ in range(4)]
places = ["cuda:%d" % (0 % count), "cuda:{}".format(1 % count), "cuda:" + str(0), f"cuda:{1 % count}"]
x = torch.randn(3, 4)
for i, layer in enumerate(layers):
    layer.to(places[i])
    x = layer(x.to(places[i]))
for i in range(count):
    with torch.cuda.device(i):
        assert torch.cuda.current_device() == i
        torch.cuda.synchronize("cuda:%s" % i)
chosen = torch.device("cuda", torch.cuda.current_device())
RESULT = {"losses": [x.sum().to(chosen).item()], "on": x.device.type}
