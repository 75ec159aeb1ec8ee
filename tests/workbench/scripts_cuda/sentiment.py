"""`use_gpu` as a flag of a class, and tensors that follow a parameter."""

import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, use_gpu=torch.cuda.is_available()):
        super().__init__()
        self.use_gpu = use_gpu
        self.embed = nn.Embedding(10, 6)
        self.fc = nn.Linear(6, 2)

    def hidden(self, size):
        h = torch.zeros(size, 6)
        return h.cuda() if self.use_gpu else h

    def forward(self, words):
        state = self.hidden(words.size(0))
        for step in self.embed(words).unbind(1):
            state = 0.5 * state + step
        return self.fc(state)


torch.manual_seed(3)
model = Classifier()
if model.use_gpu:
    model.cuda()
words, labels = torch.arange(12).view(3, 4) % 10, torch.tensor([0, 1, 0])
if torch.cuda.is_available():
    words, labels = words.cuda(), labels.cuda()
loss = nn.functional.cross_entropy(model(words), labels)
loss.backward()
RESULT = {"losses": [loss.item(), model.fc.weight.grad.abs().sum().item()], "on": loss.device.type}
