"""Two convolutional networks against each other, each with its own optimizer."""

import argparse
import json

import torch
import torch.nn as nn

NOISE, WIDTH = 8, 8


def init_weights(m):
    if isinstance(m, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.normal_(m.weight, 0.0, 0.05)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


def generator():
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 2 * WIDTH, 4, 1, 0, bias=False),
        nn.BatchNorm2d(2 * WIDTH),
        nn.ReLU(True),
        nn.ConvTranspose2d(2 * WIDTH, WIDTH, 4, 2, 1, bias=False),
        nn.BatchNorm2d(WIDTH),
        nn.ReLU(True),
        nn.ConvTranspose2d(WIDTH, 1, 4, 2, 1, bias=False),
        nn.Tanh(),
    )


def discriminator():
    return nn.Sequential(
        nn.Conv2d(1, WIDTH, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1, bias=False),
        nn.BatchNorm2d(2 * WIDTH),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(2 * WIDTH, 1, 4, 1, 0, bias=False),
        nn.Flatten(0),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--out", default="adversaries.json")
    args = parser.parse_args()
    cuda = torch.cuda.is_available()
    torch.manual_seed(999)
    net_g, net_d = generator().apply(init_weights), discriminator().apply(init_weights)
    if cuda:
        net_g.cuda()
        net_d.cuda()
    criterion = nn.BCEWithLogitsLoss()
    optimizers = {
        "g": torch.optim.Adam(net_g.parameters(), lr=2e-3, betas=(0.5, 0.999)),
        "d": torch.optim.Adam(net_d.parameters(), lr=2e-3, betas=(0.5, 0.999)),
    }
    FloatTensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
    real_label, fake_label = FloatTensor(8).fill_(1.0), FloatTensor(8).fill_(0.0)
    history = []
    for _ in range(args.steps):
        real = torch.rand(8, 1, 16, 16).type(FloatTensor)
        noise = torch.randn(8, NOISE, 1, 1).type(FloatTensor)
        optimizers["d"].zero_grad()
        loss_real = criterion(net_d(real), real_label)
        loss_real.backward()
        fake = net_g(noise)
        loss_fake = criterion(net_d(fake.detach()), fake_label)
        loss_fake.backward()
        optimizers["d"].step()
        optimizers["g"].zero_grad()
        loss_g = criterion(net_d(fake), real_label)
        loss_g.backward()
        optimizers["g"].step()
        history += [(loss_real + loss_fake).item(), loss_g.item()]
    if cuda:
        assert isinstance(fake, torch.cuda.FloatTensor)
        torch.cuda.empty_cache()
    print(f"discriminator {history[-2]:.3f}, generator {history[-1]:.3f}")
    with open(args.out, "w") as file:
        json.dump({"losses": history, "on_gpu": fake.is_cuda}, file)


if __name__ == "__main__":
    main()
