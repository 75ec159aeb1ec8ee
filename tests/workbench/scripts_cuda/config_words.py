"""The device is a word of a configuration."""

import argparse
import json

import torch

DEFAULTS = {"accelerator": "auto", "devices": 1, "precision": "32-true"}
config = dict(DEFAULTS, device="cuda" if torch.cuda.is_available() else "cpu", strategy={"name": "ddp"})


class Fabric:
    def __init__(self, accelerator="auto", mixed_precision="no"):
        if accelerator == "auto":
            accelerator = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(accelerator)
        self.mixed_precision = mixed_precision

    def setup(self, *modules):
        return [module.to(self.device) for module in modules]

    @property
    def is_gpu(self):
        return self.device.type == "cuda"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--other-device", default="cuda:0")
    return parser.parse_args(["--device", config["device"], "--other-device", "cpu"])


torch.manual_seed(0)
args = arguments()
fabric = Fabric()
(net,) = fabric.setup(torch.nn.Linear(2, 2))
x = torch.ones(1, 2).to(args.device)
pinned = args.device == "cuda" and fabric.is_gpu and args.device.startswith("cuda")
other = torch.ones(1, device=args.other_device)
print(json.dumps({key: value for key, value in config.items() if key != "device"}))
RESULT = {"losses": [net(x).sum().item(), other.item()], "pinned": pinned, "on": net.weight.device.type}
assert pinned == ("cuda" in str(config["device"]))
