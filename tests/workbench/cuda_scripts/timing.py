"""Streams, events, memory figures, random states and the profiler."""

import argparse
import json
from contextlib import nullcontext

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


def overlapped(inputs, weight):
    """The products of two halves, on two streams if there is a GPU."""
    if not inputs.is_cuda:
        return torch.cat([half @ weight for half in inputs.chunk(2)])
    streams = [torch.cuda.Stream(), torch.cuda.Stream(device=inputs.device, priority=-1)]
    results = []
    for stream, half in zip(streams, inputs.chunk(2), strict=True):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results.append(half @ weight)
            half.record_stream(stream)
    for stream, result in zip(streams, results, strict=True):
        torch.cuda.current_stream().wait_stream(stream)
        result.record_stream(torch.cuda.current_stream())
    return torch.cat(results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="timing.json")
    args = parser.parse_args()
    cuda = torch.cuda.is_available()
    device = "cuda" if cuda else "cpu"
    torch.manual_seed(0)
    inputs, weight = torch.randn(64, 32).to(device), torch.randn(32, 32).to(device)
    if cuda:
        torch.cuda.reset_peak_memory_stats()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
    sums = []
    with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=2), profile_memory=True) as prof:
        for step in range(4):
            with record_function("step"), torch.cuda.nvtx.range(f"step {step}") if cuda else nullcontext():
                out = overlapped(inputs, weight).relu()
                sums.append(out.sum().item())
                inputs = inputs * 0.9
            prof.step()
    if cuda:
        end.record()
        end.synchronize()
        print(f"{start.elapsed_time(end):.2f} ms on {torch.cuda.get_device_properties(device).name}")
        print(f"at most {torch.cuda.max_memory_allocated() / 2**10:.0f} KiB of {torch.cuda.mem_get_info()[1]} bytes")
        state = torch.cuda.get_rng_state()
        first = torch.rand(3, device="cuda")
        torch.cuda.set_rng_state(state)
        assert torch.equal(first, torch.rand(3, device=device))
        with torch.random.fork_rng(devices=[torch.cuda.current_device()]):
            torch.cuda.manual_seed(1)
        generator = torch.Generator(device="cuda").manual_seed(4)
        assert torch.rand(2, generator=generator, device=device).is_cuda
        torch.cuda.synchronize()
    table = prof.key_averages().table(sort_by="cuda_time_total" if cuda else "cpu_time_total", row_limit=5)
    assert "step" in table
    with open(args.out, "w") as file:
        json.dump({"losses": sums, "on_gpu": out.is_cuda}, file)


if __name__ == "__main__":
    main()
