# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""What trains in several processes, against one process with the whole batch."""

import contextlib

import pytest
import torch
import torch.distributed as dist
from distributed_processes import BACKEND, NAME, Ranks
from torch import nn
from torch.nn.parallel import DistributedDataParallel

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this PyTorch has no torch.distributed")


@pytest.fixture(scope="module", params=[2, 4], ids="{} processes".format)
def ranks(request, tmp_path_factory):
    started = Ranks(request.param, tmp_path_factory.mktemp("ranks"))
    yield started
    started.close()


def network(device="cpu"):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)


def batch():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(8, 8, generator=generator), torch.randn(8, 4, generator=generator)


def mine(rank):
    return [part.chunk(dist.get_world_size())[rank].to(NAME) for part in batch()]


def trained(model, inputs, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs[0]), inputs[1]).backward()
        optimizer.step()
    return model


def expected(steps=3):
    return dict(trained(network(), batch(), steps).named_parameters())


def compare(model, steps=3):
    for (name, wanted), found in zip(expected(steps).items(), model.parameters(), strict=True):
        torch.testing.assert_close(found.detach().cpu(), wanted.detach(), msg=name)


# --- DistributedDataParallel


def _ddp(rank, settings):
    model = DistributedDataParallel(network(NAME), bucket_cap_mb=0.001, **settings)
    trained(model, mine(rank))
    compare(model.module)
    return model._get_ddp_logging_data()


SETTINGS = [{}, {"find_unused_parameters": True}, {"static_graph": True}, {"gradient_as_bucket_view": True}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_ddp(ranks, settings):
    for data in ranks.run(_ddp, settings):
        assert data["world_size"] == ranks.size


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x, both=False):
        return self.used(x) + self.unused(x) if both else self.used(x)


def _unused(rank):
    torch.manual_seed(0)
    model = DistributedDataParallel(Branches().to(NAME), find_unused_parameters=True)
    x, y = mine(rank)
    for both in (False, True, False):
        model.zero_grad()
        nn.functional.mse_loss(model(x, both), y).backward()
        assert (model.module.unused.weight.grad is not None) == both
    sums = [p.grad.sum() for p in model.module.used.parameters()]
    gathered = [torch.empty_like(sums[0]) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, sums[0])
    assert len({part.item() for part in gathered}) == 1


def test_ddp_with_unused_parameters(ranks):
    ranks.run(_unused)


def _no_sync(rank):
    model = DistributedDataParallel(network(NAME))
    x, y = mine(rank)
    for i, (part, target) in enumerate(zip(x.chunk(2), y.chunk(2), strict=True)):
        with model.no_sync() if i == 0 else contextlib.nullcontext():
            (nn.functional.mse_loss(model(part), target) / 2).backward()
    whole = network()
    nn.functional.mse_loss(whole(batch()[0]), batch()[1]).backward()
    for ours, theirs in zip(model.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad)


def test_ddp_that_accumulates(ranks):
    ranks.run(_no_sync)


def _hook(rank):
    model = DistributedDataParallel(network(NAME))

    def halves(_, bucket):
        sent = bucket.buffer().div(dist.get_world_size())
        future = dist.all_reduce(sent, async_op=True).get_future()
        return future.then(lambda done: done.value()[0])

    model.register_comm_hook(None, halves)
    compare(trained(model, mine(rank)).module)


def test_ddp_with_a_hook(ranks):
    ranks.run(_hook)


def _times(rank):
    model = DistributedDataParallel(network(NAME))
    model._set_ddp_runtime_logging_sample_rate(1)
    trained(model, mine(rank), steps=12)
    data = model._get_ddp_logging_data()
    for key in ("avg_forward_compute_time", "avg_backward_compute_time", "avg_backward_comm_time"):
        assert data[key] > 0, key


def test_ddp_times(ranks):
    ranks.run(_times)


# --- SyncBatchNorm


def _normalized(model, x, device="cpu"):
    """Results, gradients and buffers after a step in training and one in eval."""
    x = x.detach().to(device).requires_grad_()
    out = model(x)
    (out.float() * torch.arange(1, out[0].numel() + 1, device=device).view(out[0].shape)).square().sum().backward()
    with torch.no_grad():
        after = model.eval()(x)
    return out.detach(), after, x.grad, [p.grad for p in model.parameters()], list(model.buffers())


def _sync_batch_norm(rank, dtype, affine):
    sizes = {2: (3, 5), 4: (1, 2, 2, 3)}[dist.get_world_size()]
    x = torch.randn(8, 4, 3, 2, generator=torch.Generator().manual_seed(3)).to(dtype)
    model = nn.BatchNorm2d(4, affine=affine)
    wanted = _normalized(model.double(), x.double())
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(4, affine=affine)).to(NAME)
    found = _normalized(model, x.split(sizes)[rank], NAME)

    def close(ours, theirs):  # gradients are differences of sums, which are as large as the largest of them
        atol = (1e-5 if dtype == torch.float32 else 1e-2) * theirs.abs().max().item()
        torch.testing.assert_close(ours.cpu().double(), theirs.double(), rtol=0, atol=atol)

    for ours, theirs in zip(found[:3], wanted[:3], strict=True):
        assert ours.dtype == dtype
        close(ours, theirs.split(sizes)[rank])
    for ours, theirs in zip(found[3], wanted[3], strict=True):
        dist.all_reduce(ours)  # what DistributedDataParallel does, but for the mean
        close(ours, theirs)
    for ours, theirs in zip(found[4], wanted[4], strict=True):
        close(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("affine", [True, False])
def test_sync_batch_norm(ranks, dtype, affine):
    ranks.run(_sync_batch_norm, dtype, affine)


def _empty_part(rank):
    x = torch.randn(4, 3, 2, 2, generator=torch.Generator().manual_seed(3))
    wanted = nn.BatchNorm2d(3)(x)
    model = nn.SyncBatchNorm(3).to(NAME)
    found = model((x if rank == 0 else x[:0]).to(NAME))
    torch.testing.assert_close(found.cpu(), wanted if rank == 0 else x[:0])


def test_sync_batch_norm_of_an_empty_part(ranks):
    ranks.run(_empty_part)


# --- FSDP, DTensor


def _mesh():
    return dist.device_mesh.init_device_mesh(NAME, (dist.get_world_size(),))


def _sharded(settings, rank):
    from torch.distributed.fsdp import fully_shard

    mesh = _mesh()
    model = network(NAME)
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh, **settings)
    return fully_shard(model, mesh=mesh, **settings)


def _fsdp(rank, settings):
    model = trained(_sharded(settings, rank), mine(rank))
    for (name, wanted), found in zip(expected().items(), model.parameters(), strict=True):
        torch.testing.assert_close(found.full_tensor().detach().cpu(), wanted.detach(), msg=name)


@pytest.mark.parametrize("settings", [{}, {"reshard_after_forward": False}], ids=str)
def test_fsdp(ranks, settings):
    ranks.run(_fsdp, settings)


def _mixed(rank):
    from torch.distributed.fsdp import MixedPrecisionPolicy

    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = trained(_sharded({"mp_policy": policy}, rank), mine(rank))
    for wanted, found in zip(expected().values(), model.parameters(), strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.full_tensor().detach().cpu(), wanted.detach(), rtol=0.05, atol=0.02)


def test_fsdp_in_mixed_precision(ranks):
    ranks.run(_mixed)


def _offloaded(rank):
    from torch.distributed.fsdp import CPUOffloadPolicy

    model = trained(_sharded({"offload_policy": CPUOffloadPolicy()}, rank), mine(rank))
    for wanted, found in zip(expected().values(), model.parameters(), strict=True):
        assert found.device.type == "cpu"
        torch.testing.assert_close(found.to_local().detach(), wanted.detach().chunk(dist.get_world_size())[rank])


def test_fsdp_offload(ranks):
    ranks.run(_offloaded, backend=f"cpu:gloo,{NAME}:{BACKEND}")


def _dtensor(rank):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = _mesh()
    assert mesh.device_type == NAME
    torch.manual_seed(0)
    a, b = torch.randn(4, 8), torch.randn(8, 4)
    x = distribute_tensor(a.to(NAME), mesh, [Shard(0)])
    y = distribute_tensor(b.to(NAME), mesh, [Shard(1)])
    torch.testing.assert_close((x @ y).full_tensor().cpu(), a @ b)
    columns = a.chunk(dist.get_world_size(), 1)
    torch.testing.assert_close(x.redistribute(placements=[Shard(1)]).to_local().cpu(), columns[rank])
    torch.testing.assert_close(x.redistribute(placements=[Replicate()]).to_local().cpu(), a)
    torch.testing.assert_close(x.sum().full_tensor().cpu(), a.sum())


def test_dtensor(ranks):
    ranks.run(_dtensor)


def _tensor_parallel(rank):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    model = network(NAME)
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    parallelize_module(model, _mesh(), plan)
    x = batch()[0]
    torch.testing.assert_close(model(x.to(NAME)).cpu(), network()(x))


def test_tensor_parallel(ranks):
    ranks.run(_tensor_parallel)


def _functional(rank):
    import torch.distributed._functional_collectives as functional

    everyone = list(range(dist.get_world_size()))
    x = torch.ones(4, device=NAME) * (rank + 1)
    reduced = functional.all_reduce(x, "sum", everyone)
    assert isinstance(reduced, functional.AsyncCollectiveTensor)
    assert reduced.tolist() == [float(sum(everyone) + len(everyone))] * 4
    gathered = functional.all_gather_tensor(x, 0, everyone)
    assert (gathered * 2).tolist() == [2.0 * (other + 1) for other in everyone for _ in range(4)]
    part = functional.reduce_scatter_tensor(gathered, "sum", 0, everyone)
    assert part.tolist() == [float(len(everyone) * (rank + 1))] * 4


def test_functional_collectives(ranks):
    ranks.run(_functional)


def _checkpoint(rank, folder):
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict

    model = trained(_sharded({}, rank), mine(rank))
    dcp.save(get_model_state_dict(model), checkpoint_id=folder)
    fresh = _sharded({}, rank)
    state = get_model_state_dict(fresh)
    dcp.load(state, checkpoint_id=folder)
    set_model_state_dict(fresh, state)
    for a, b in zip(fresh.parameters(), model.parameters(), strict=True):
        assert torch.equal(a.to_local().cpu(), b.to_local().cpu())


def test_checkpoints(ranks, tmp_path):
    ranks.run(_checkpoint, str(tmp_path / "checkpoint"), backend=f"cpu:gloo,{NAME}:{BACKEND}")


def _compiled(rank):
    import torch.distributed._functional_collectives as functional

    everyone = list(range(dist.get_world_size()))

    @torch.compile(fullgraph=True)
    def step(x):
        y = functional.all_reduce(x * 2, "sum", everyone)
        return functional.all_gather_tensor(y + 1, 0, everyone)

    found = step(torch.ones(4, device=NAME) * (rank + 1))
    assert found.tolist() == [2.0 * (sum(everyone) + len(everyone)) + 1] * 4 * len(everyone)


def test_compiled_collectives(ranks):
    if not torch.get_device_module(NAME).get_device_properties().host_accessible:
        pytest.skip("functions launched on the device do not reach its memory")
    ranks.run(_compiled)
