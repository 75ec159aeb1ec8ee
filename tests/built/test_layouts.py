"""Without component compound, making a sparse, nested or quantized tensor raises the error that names the component."""

import io

import pytest
import torch
from built import NAME, ROOT

if (ROOT / "csrc/host/Compound.cpp").exists():
    pytest.skip("the tree has the component compound", allow_module_level=True)

D = torch.device(NAME, 0)
NEEDS = "need the component compound: `openreg-gen add component compound`"
HOST = torch.eye(4)
OUTER, INNER, VALUES, BLOCKS = torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), torch.ones(2, 2, 2)


def loaded():
    file = io.BytesIO()
    torch.save(HOST.to_sparse_csr(), file)
    file.seek(0)
    return torch.load(file, map_location=D)


def made_by(name, values, size):
    return lambda: getattr(torch, f"sparse_{name}_tensor")(OUTER.to(D), INNER.to(D), values.to(D), size)


CALLS = {
    **{f"to_sparse_{name}": lambda name=name: getattr(HOST.to(D), f"to_sparse_{name}")() for name in ("csr", "csc")},
    **{
        f"to_sparse_{name}": lambda name=name: getattr(HOST.to(D), f"to_sparse_{name}")((2, 2))
        for name in ("bsr", "bsc")
    },
    **{f"{name} to": lambda name=name: getattr(HOST, f"to_sparse_{name}")().to(D) for name in ("csr", "csc")},
    **{f"{name} to": lambda name=name: getattr(HOST, f"to_sparse_{name}")((2, 2)).to(D) for name in ("bsr", "bsc")},
    **{f"sparse_{name}_tensor": made_by(name, VALUES, (2, 2)) for name in ("csr", "csc")},
    **{f"sparse_{name}_tensor": made_by(name, BLOCKS, (4, 4)) for name in ("bsr", "bsc")},
    "device=": lambda: torch.sparse_csr_tensor(OUTER, INNER, VALUES, device=D),
    "lists": lambda: torch.sparse_compressed_tensor([0, 1, 2], [0, 1], [1.0, 1.0], layout=torch.sparse_csr, device=D),
    "to_sparse(layout)": lambda: HOST.to(D).to_sparse(layout=torch.sparse_csr),
    "requires_grad": lambda: HOST.to(D).requires_grad_().to_sparse_csr(),
    "empty": lambda: torch.empty((2, 2), layout=torch.sparse_csr, device=D),
    "zeros": lambda: torch.zeros((2, 2), layout=torch.sparse_csr, device=D),
    "zeros_like": lambda: torch.zeros_like(HOST.to_sparse_csr(), device=D),
    "ones_like": lambda: torch.ones_like(HOST.to_sparse_csr(), device=D),
    "torch.load": loaded,
    "coo": lambda: HOST.to(D).to_sparse(),
    "coo to": lambda: HOST.to_sparse().to(D),
    "quantized": lambda: torch.quantize_per_tensor(HOST.to(D), 0.1, 0, torch.quint8),
    "quantized to": lambda: torch.quantize_per_tensor(HOST, 0.1, 0, torch.quint8).to(D),
    # PyTorch makes them from tensors of the host without asking the device: the first use is refused.
    "empty_like": lambda: torch.empty_like(HOST.to_sparse_csr(), device=D).cpu(),
    "nested": lambda: torch.nested.nested_tensor([HOST, HOST[:2]], device=D) * 2,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_refused_at_birth(name):
    with pytest.raises(NotImplementedError) as error:
        CALLS[name]()
    assert NEEDS in str(error.value)
