"""In what a device may differ from the CPU."""

# Severe ones first: a case is filed under the first that holds.
CATEGORIES = (
    *("crash", "hang", "raising", "structure", "device", "dtype", "shape", "value", "strides", "aliasing", "error"),
    "tie",  # another one of equal elements, where PyTorch's documentation promises the first
    "reference",  # the CPU is further from the exact value than the device
)
# Differences that no reason excuses but PyTorch's own issue, or CUDA that does the same.
NEED_CITATION = frozenset({"crash", "hang", "raising", "device", "dtype", "value"})
