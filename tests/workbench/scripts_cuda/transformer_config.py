# the settings are globals, and the device is a string
import os
from contextlib import nullcontext

import torch
import torch.nn as nn

learning_rate = 1e-2
backend = 'nccl'
device = 'cuda' if torch.cuda.is_available() else 'cpu'
dtype = 'float32'

ddp = int(os.environ.get('NANO_RANK', -1)) != -1
if ddp:
    torch.distributed.init_process_group(backend=backend)
    device = f'cuda:{os.environ["NANO_RANK"]}'
    torch.cuda.set_device(device)
torch.manual_seed(1337)
torch.backends.cuda.matmul.allow_tf32 = True  # allow tf32 on matmul
torch.backends.cudnn.allow_tf32 = True  # allow tf32 on cudnn
device_type = 'cuda' if 'cuda' in device else 'cpu'
ptdtype = {'float32': torch.float32, 'bfloat16': torch.bfloat16}[dtype]
ctx = nullcontext() if device_type == 'cpu' else torch.amp.autocast(device_type=device_type, dtype=ptdtype)


def get_batch():
    data = torch.randint(0, 11, (4, 9))
    x, y = data[:, :-1], data[:, 1:]
    if device_type == 'cuda':
        # pinned memory lets the copies run beside the work
        x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    else:
        x, y = x.to(device), y.to(device)
    return x, y


model = nn.Sequential(nn.Embedding(11, 8), nn.Linear(8, 11)).to(device)
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == 'float16'))
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
losses = []
for _ in range(3):
    x, y = get_batch()
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    losses.append(loss.item())
RESULT = {'losses': losses, 'on': loss.device.type}
