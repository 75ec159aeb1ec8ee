# mypy: disable-error-code="import-not-found"
"""Networks as people use them: each architecture of Hugging Face's package transformers, made small, with random weights.

Only where that package is installed, and only when asked for: `'transformers.*'`. What can't be made small without knowing
more of it than its configuration says has no cases.
"""

import copy
import functools
import importlib.util
import inspect
import os
from collections.abc import Iterator
from typing import Any

import torch

from .compare import TOLERANCES, Call
from .models import LOOSE, forward_and_backward

PREFIX = "transformers."
DTYPES = ("float32", "bfloat16")
MOST_PARAMETERS = 10_000_000
TOKENS = 99
# The first takes gigabytes for a gradient, however small it is; the other keeps results, which can't be copied.
LEFT_OUT = {"glm5_next_text", "recurrent_gemma"}

#: What members of configurations are at most, under all the names that they have.
NAMES = {
    2: """num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_encoder_layers num_decoder_layers
        num_experts_per_tok""",
    4: """num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_key_value_heads
        num_experts num_local_experts n_routed_experts rotary_dim""",
    8: "head_dim d_kv d_head patch_size",
    32: """hidden_size d_model n_embd dim embed_dim embedding_size encoder_hidden_size decoder_hidden_size projection_dim
        word_embed_proj_dim attention_hidden_size image_size""",
    64: """intermediate_size d_ff ffn_dim encoder_ffn_dim decoder_ffn_dim d_inner n_inner hidden_dim moe_intermediate_size
        shared_expert_intermediate_size max_position_embeddings n_positions""",
    TOKENS: "vocab_size",
}
SIZES = {name: size for size, names in NAMES.items() for name in names.split()}


@functools.cache
def architectures() -> dict[str, Any]:
    """The names of architectures; empty where the package is not installed."""
    if importlib.util.find_spec("transformers") is None:
        return {}
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    names = set(CONFIG_MAPPING_NAMES) & set(MODEL_MAPPING_NAMES) - LEFT_OUT
    return {PREFIX + name: name for name in sorted(names)}


def shrink(config: Any) -> Any:
    """A configuration with small sizes and without dropout, that of each part as well."""
    from transformers import PretrainedConfig

    members = vars(config)
    for key, value in list(members.items()):
        if isinstance(value, PretrainedConfig):
            shrink(value)
        elif isinstance(value, float) and ("drop" in key or key.endswith("_prob")):
            setattr(config, key, 0.0)
        elif isinstance(value, int) and key.endswith("_token_id") and value >= TOKENS:
            setattr(config, key, 0)
        elif key == "head_dim" and "qk_rope_head_dim" in members:
            continue  # it is the sum of two others
        elif isinstance(value, int) and not isinstance(value, bool) and value > SIZES.get(key, value):
            setattr(config, key, SIZES[key])
    return config


def made(name: str, kind: str) -> torch.nn.Module | None:
    """A small network, or None where there is none."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    factory = getattr(transformers, kind)
    try:
        config = shrink(CONFIG_MAPPING[name]())
        with torch.device("meta"):
            parameters = sum(p.numel() for p in factory.from_config(config).parameters())
        return factory.from_config(config) if parameters <= MOST_PARAMETERS else None
    except Exception:  # it needs another package, or sizes that belong together
        return None


def inputs(network: torch.nn.Module, dtype: torch.dtype) -> dict[str, Any]:
    """Arguments for what a network's forward() takes."""
    taken = inspect.signature(network.forward).parameters
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(3, TOKENS - 9, (2, 8), generator=generator)
    mask = torch.ones_like(tokens)
    mask[1, 6:] = 0

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(dtype)

    known = {
        "input_ids": tokens,
        "decoder_input_ids": tokens,
        "pixel_values": numbers(2, 3, 32, 32),
        "input_values": numbers(2, 3200),
        "input_features": numbers(2, 80, 64),
        "use_cache": False,
    }
    if "input_ids" in taken:
        known["attention_mask"] = mask
    return {key: value for key, value in known.items() if key in taken}


def forward(network: torch.nn.Module, given: dict[str, Any]) -> Any:
    with torch.no_grad():
        return list(network(**given, return_dict=True).values())


def train(network: torch.nn.Module, given: dict[str, Any]) -> Any:
    value, grads, _ = forward_and_backward(network, (), given)
    return list(value.values()), grads


def generate(network: torch.nn.Module, tokens: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
    mask = torch.ones_like(tokens)
    make: Any = network.generate
    found: torch.Tensor = make(
        tokens, attention_mask=mask, max_new_tokens=5, do_sample=False, pad_token_id=0, **options
    )
    return found


GENERATION: dict[str, dict[str, Any]] = {
    "generate": {},
    "generate_beams": {"num_beams": 2},
    "generate_static_cache": {"cache_implementation": "static"},
}


def runs(call: Call) -> bool:
    """Whether the CPU runs it: what it refuses is a sample that was made wrong."""
    try:
        call.function(*call.args, **call.kwargs)
    except Exception:  # whatever it is
        return False
    return True


def calls(subject: str, dtype: torch.dtype) -> Iterator[tuple[str, str, Call]]:
    """Variant, index and call, as of modules."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    transformers.logging.set_verbosity_error()
    name = architectures()[subject]
    tolerance = (3e-3, 1e-3) if dtype == torch.float32 else LOOSE
    torch.manual_seed(0)
    network = made(name, "AutoModel")
    if network is not None:
        network.to(dtype)
        given = inputs(network, dtype)
        for variant, function in (("eval", forward), ("train", train)):
            own = copy.deepcopy(network).train(variant == "train")
            call = Call(function, (own, given), {}, tolerance=tolerance)
            if runs(call):
                # Layouts are those of the kernels that the device has.
                yield variant, "0", call._replace(dtypes=False)
    if name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and dtype == torch.float32:
        torch.manual_seed(0)
        network = made(name, "AutoModelForCausalLM")
        tokens = torch.tensor([[5, 17, 3, 42], [7, 7, 61, 2]])
        if network is None:
            return
        network.eval()
        for variant, options in GENERATION.items():
            call = Call(generate, (network, tokens, options), {}, tolerance=TOLERANCES[dtype])
            if runs(call):
                yield variant, "0", call
