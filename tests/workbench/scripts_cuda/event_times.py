"""Times a step with events on a device, and with a clock elsewhere."""

import time

import torch


class Timer:
    def __init__(self):
        self.gpu = torch.cuda.is_available()

    def __enter__(self):
        if self.gpu:
            self.start_event = torch.cuda.Event(enable_timing=True)
            self.end_event = torch.cuda.Event(enable_timing=True)
            self.start_event.record()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *args):
        if self.gpu:
            self.end_event.record()
            torch.cuda.synchronize()
            self.elapsed = self.start_event.elapsed_time(self.end_event)
        else:
            self.elapsed = 1000 * (time.perf_counter() - self.start)


def synchronized_time():
    torch.cuda.synchronize() if torch.cuda.is_available() else None
    return time.time()


torch.manual_seed(3)
x = torch.randn(32, 32).to("cuda" if torch.cuda.is_available() else "cpu")
start = synchronized_time()
with Timer() as timer:
    y = x @ x
assert timer.elapsed >= 0 and synchronized_time() >= start
RESULT = {"losses": [y.sum().item()], "on": y.device.type}
