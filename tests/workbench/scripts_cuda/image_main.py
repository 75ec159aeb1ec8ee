"""A classifier's main program: one device, the current device, or one process per device."""

import argparse
import os
import random
import warnings

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.nn as nn
import torch.optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="Trains a small classifier")
parser.add_argument("--seed", default=3, type=int)
parser.add_argument("--gpu", default=None, type=int, help="index of the cuda device")
parser.add_argument("--dist-backend", default="nccl", type=str)
parser.add_argument("--distributed", action="store_true")


def main():
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    cudnn.deterministic = True
    if args.gpu is not None:
        warnings.warn("only one device is used", stacklevel=1)
    return main_worker(args.gpu, args)


def main_worker(gpu, args):
    args.gpu = gpu
    if args.distributed:
        dist.init_process_group(backend=args.dist_backend, rank=int(os.environ["RANK"]))
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    if not torch.cuda.is_available():
        print("using the CPU, this will be slow")
    elif args.gpu is not None:
        torch.cuda.set_device(args.gpu)
        model = model.cuda(args.gpu)
    else:
        model = model.cuda()
    if torch.cuda.is_available():
        if args.gpu:
            device = torch.device("cuda:{}".format(args.gpu))
        else:
            device = torch.device("cuda")
    else:
        device = torch.device("cpu")
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    data = TensorDataset(torch.randn(48, 6), torch.arange(48) % 3)
    loader = DataLoader(data, batch_size=16, pin_memory=torch.cuda.is_available())
    losses = []
    for _ in range(2):
        for images, target in loader:
            if torch.cuda.is_available():
                images = images.cuda(args.gpu, non_blocking=True)
                target = target.cuda(args.gpu, non_blocking=True)
            loss = criterion(model(images), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return {"losses": losses, "on": next(model.parameters()).device.type}


if __name__ == "__main__":
    RESULT = main()
