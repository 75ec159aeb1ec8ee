"""Libraries that people use with PyTorch, on generated_example: docs/guides/libraries.md says what to configure for each."""

import os

os.environ["ACCELERATE_TORCH_DEVICE"] = "openreg"  # before Accelerate's first state
os.environ["HF_HUB_OFFLINE"] = "1"

import copy

import pytest
import torch
import transformers
from torch import nn

DEVICE = torch.device("openreg", 0)
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99}

transformers.logging.set_verbosity_error()
pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries' own


def llama() -> nn.Module:
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, num_key_value_heads=2))


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        tokens = torch.randint(0, 99, (12,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": tokens, "labels": tokens}


def batch(size: int = 4) -> dict[str, torch.Tensor]:
    rows = [Sentences()[i]["input_ids"] for i in range(size)]
    return {"input_ids": torch.stack(rows), "labels": torch.stack(rows)}


def forget_devices() -> None:
    """Accelerate keeps its first device for the process."""
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)


def on(device, values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {key: value.to(device) for key, value in values.items()}


def test_a_pretrained_model_is_loaded_to_the_device(tmp_path):
    model = llama()
    model.to(DEVICE).save_pretrained(tmp_path)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, device_map="openreg")
    assert {p.device for p in loaded.parameters()} == {DEVICE}
    given = batch()["input_ids"]
    torch.testing.assert_close(loaded(given.to(DEVICE)).logits.cpu(), model.cpu()(given).logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_attention(attention):
    model, given = llama(), batch()["input_ids"]
    model.set_attn_implementation(attention)
    expected = model(given).logits
    torch.testing.assert_close(model.to(DEVICE)(given.to(DEVICE)).logits.cpu(), expected, rtol=1e-4, atol=1e-4)


def test_pipeline():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(99)}, unk_token="w98"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w1")
    said = [
        transformers.pipeline("text-generation", model=llama(), tokenizer=tokenizer, device=device)(
            "w3 w4 w5", max_new_tokens=4, do_sample=False
        )
        for device in ("cpu", "openreg")
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize("options", [{}, {"gradient_accumulation_steps": 2, "optim": "adamw_torch_fused"}], ids=str)
def test_trainer(tmp_path, monkeypatch, options):
    losses = []
    for use_cpu in (True, False):
        forget_devices()
        monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu" if use_cpu else "openreg")
        arguments = transformers.TrainingArguments(
            str(tmp_path / str(use_cpu)),
            num_train_epochs=2,
            per_device_train_batch_size=8,
            report_to=[],
            disable_tqdm=True,
            use_cpu=use_cpu,
            **options,
        )
        trainer = transformers.Trainer(llama(), arguments, train_dataset=Sentences(), eval_dataset=Sentences())
        losses.append((trainer.train().training_loss, trainer.evaluate()["eval_loss"]))
        assert trainer.model.device.type == ("cpu" if use_cpu else "openreg")
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_accelerate(tmp_path, precision):
    from accelerate import Accelerator

    forget_devices()
    accelerator = Accelerator(mixed_precision=precision)
    assert accelerator.device.type == "openreg"
    model = llama()
    loader = torch.utils.data.DataLoader(Sentences(), 8, pin_memory=True)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 1e-2), loader)
    losses = []
    for _ in range(3):
        for each in loader:
            with accelerator.accumulate(model):
                loss = model(**each).loss
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).mean().item())
    assert losses[-1] < losses[0]
    accelerator.save_state(tmp_path)
    accelerator.load_state(tmp_path)


def test_a_model_spread_over_devices():
    from accelerate import dispatch_model

    given, model = batch()["input_ids"], llama()
    expected = model(given).logits
    places = {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": 1, "model.norm": 1, "lm_head": 1}
    spread = dispatch_model(model, {**{k: f"openreg:{v}" for k, v in places.items()}, "model.rotary_emb": "openreg:0"})
    torch.testing.assert_close(spread(given.to(DEVICE)).logits.cpu(), expected, rtol=1e-4, atol=1e-4)


def test_lora():
    from peft import LoraConfig, get_peft_model

    losses = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(1)
        model = get_peft_model(llama(), LoraConfig(r=4, target_modules=["q_proj", "v_proj"])).to(device)
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
        for _ in range(3):
            loss = model(**on(device, batch())).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.merge_and_unload()
        losses.append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


def test_diffusion():
    from diffusers import DDIMScheduler, DDPMScheduler, DPMSolverMultistepScheduler, UNet2DConditionModel

    torch.manual_seed(0)
    network = UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
        norm_num_groups=4,
    )
    image, noise, text, times = (
        torch.randn(2, 4, 8, 8),
        torch.randn(2, 4, 8, 8),
        torch.randn(2, 5, 16),
        torch.tensor([3, 500]),
    )
    gradients = []
    for device in ("cpu", DEVICE):
        there = copy.deepcopy(network).to(device)
        noisy = DDPMScheduler().add_noise(image.to(device), noise.to(device), times.to(device))
        (there(noisy, times.to(device), text.to(device)).sample - noise.to(device)).square().mean().backward()
        gradients.append([p.grad.cpu() for p in there.parameters()])
    torch.testing.assert_close(gradients[1], gradients[0], rtol=2e-3, atol=2e-4)
    for kind in (DDIMScheduler, DPMSolverMultistepScheduler):
        drawn = []
        for device in ("cpu", DEVICE):
            there, scheduler, sample = copy.deepcopy(network).to(device), kind(), noise[:1].to(device)
            scheduler.set_timesteps(4, device=device)
            with torch.no_grad():
                for step in scheduler.timesteps:
                    sample = scheduler.step(there(sample, step, text[:1].to(device)).sample, step, sample).prev_sample
            drawn.append(sample.cpu())
        torch.testing.assert_close(drawn[1], drawn[0], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "16-mixed"])
def test_lightning(tmp_path, precision):
    import lightning
    from lightning.pytorch.accelerators import Accelerator
    from lightning.pytorch.plugins import MixedPrecision
    from lightning.pytorch.strategies import SingleDeviceStrategy

    class OpenReg(Accelerator):
        """As docs/guides/libraries.md has it."""

        def setup_device(self, device):
            torch.accelerator.set_device_index(device.index)

        def teardown(self):
            torch.accelerator.empty_cache()

        @staticmethod
        def parse_devices(devices):
            return list(range(devices)) if isinstance(devices, int) else devices

        @staticmethod
        def get_parallel_devices(devices):
            return [torch.device("openreg", i) for i in devices]

        @staticmethod
        def auto_device_count():
            return torch.accelerator.device_count()

        @staticmethod
        def is_available():
            return torch.accelerator.is_available()

        @staticmethod
        def name():
            return "openreg"

    class Network(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)

        def training_step(self, rows, index):
            assert rows[0].device == DEVICE
            return self.layer(rows[0]).square().mean()

        def validation_step(self, rows, index):
            self.log("loss", self.layer(rows[0]).square().mean())

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 0.1)

    scaler = torch.amp.GradScaler("openreg") if precision == "16-mixed" else None
    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(32, 8)), 4)
    trainer = lightning.Trainer(
        max_epochs=3,
        strategy=SingleDeviceStrategy(DEVICE, accelerator=OpenReg()),
        plugins=None if precision == "32-true" else MixedPrecision(precision, "openreg", scaler),
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    network = Network()
    before = network.layer.weight.detach().norm()
    trainer.fit(network, rows, rows)
    assert network.layer.weight.detach().cpu().norm() < before
    assert trainer.callback_metrics["loss"].isfinite()


def test_metrics():
    import torchmetrics

    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(100, 5, generator=generator).softmax(1)
    classes = torch.randint(0, 5, (100,), generator=generator)
    numbers = torch.randn(2, 100, generator=generator)
    many = {"task": "multiclass", "num_classes": 5}
    metrics = [
        *(
            (kind(**many), (scores, classes))
            for kind in (torchmetrics.Accuracy, torchmetrics.AUROC, torchmetrics.F1Score)
        ),
        *((kind(**many), (scores, classes)) for kind in (torchmetrics.ConfusionMatrix, torchmetrics.CalibrationError)),
        (torchmetrics.AveragePrecision(**many), (scores, classes)),
        *((kind(), tuple(numbers)) for kind in (torchmetrics.R2Score, torchmetrics.SpearmanCorrCoef)),
        (torchmetrics.PearsonCorrCoef(), tuple(numbers)),
    ]
    for metric, given in metrics:
        answers = []
        for device in ("cpu", DEVICE):
            there = copy.deepcopy(metric).to(device)
            there.update(*(x.to(device) for x in given))
            answers.append(there.compute().cpu())
        torch.testing.assert_close(answers[1], answers[0], rtol=1e-4, atol=1e-5)


def test_safetensors(tmp_path):
    """It knows devices by name: what it reads is moved."""
    import safetensors.torch

    saved = {"a": torch.randn(3, 4, device=DEVICE), "b": torch.arange(4, dtype=torch.bfloat16, device=DEVICE)}
    safetensors.torch.save_file(saved, tmp_path / "x.safetensors")
    loaded = safetensors.torch.load_file(tmp_path / "x.safetensors")
    for key, value in saved.items():
        assert torch.equal(loaded[key].to(DEVICE), value)
