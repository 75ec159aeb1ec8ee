"""DataParallel if there is more than one device."""

import torch
import torch.nn as nn

torch.manual_seed(6)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
if torch.cuda.device_count() > 5:
    print("Let's use", torch.cuda.device_count(), "GPUs!")
    model = nn.DataParallel(model, device_ids=list(range(torch.cuda.device_count()))).cuda()
model.to(device)
names = []
for i in range(torch.cuda.device_count()):
    names.append(torch.cuda.get_device_name(i))
    print("cuda:" + str(i), torch.cuda.get_device_properties(i).total_memory)
loader = torch.utils.data.DataLoader(torch.randn(6, 4), batch_size=3)
losses = [model(batch.to(device)).square().mean().item() for batch in loader]
RESULT = {"losses": losses, "on": model.weight.device.type}
