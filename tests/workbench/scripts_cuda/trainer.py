"""A trainer class, and a dataclass with its arguments."""

import contextlib
import dataclasses

import torch
import torch.nn as nn


@dataclasses.dataclass
class TrainingArguments:
    no_cuda: bool = False
    fp16: bool = False
    seed: int = 13
    local_rank: int = -1
    n_gpu: int = dataclasses.field(init=False, default=0)

    @property
    def device(self) -> torch.device:
        if self.no_cuda or not torch.cuda.is_available():
            self.n_gpu = 0
            return torch.device("cpu")
        if self.local_rank == -1:
            self.n_gpu = torch.cuda.device_count()
            device = torch.device("cuda:0")
        else:
            device = torch.device("cuda", self.local_rank)
        torch.cuda.set_device(device)
        return device


class Trainer:
    def __init__(self, model, args):
        self.args = args
        self.model = model.to(args.device)
        self.use_amp = args.fp16 and torch.cuda.is_available()
        self.scaler = torch.cuda.amp.GradScaler(enabled=self.use_amp)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)

    def autocast(self):
        return torch.cuda.amp.autocast() if self.use_amp else contextlib.nullcontext()

    def _prepare(self, inputs):
        return {name: value.to(self.args.device) for name, value in inputs.items()}

    def step(self, inputs):
        inputs = self._prepare(inputs)
        with self.autocast():
            loss = nn.functional.cross_entropy(self.model(inputs["x"]), inputs["labels"])
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        return loss.detach()

    def rng(self):
        states = {"cpu": torch.random.get_rng_state()}
        if torch.cuda.is_available():
            states["cuda"] = torch.cuda.random.get_rng_state_all()
        return states


torch.manual_seed(13)
trainer = Trainer(nn.Linear(5, 3), TrainingArguments())
inputs = {"x": torch.randn(6, 5), "labels": torch.arange(6) % 3}
losses = [trainer.step(inputs).item() for _ in range(3)]
RESULT = {"losses": losses, "on": trainer.model.weight.device.type}
assert len(trainer.rng()) == 1 + (trainer.args.n_gpu > 0)
