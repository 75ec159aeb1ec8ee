"""Tests in PyTorch's style that pass or fail as the files of a folder say, which OPENREG_GEN_SWITCHES names. Without it, they
are those of an empty folder."""

import os
import pathlib
import tempfile
import time

from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests

FOLDER = pathlib.Path(os.environ.get("OPENREG_GEN_SWITCHES") or tempfile.mkdtemp())


class TestSwitches(TestCase):
    def test_abort(self, device):
        if (FOLDER / "abort").exists():
            os.abort()

    def test_counted(self, device):
        with (FOLDER / "counted").open("a") as file:
            file.write("once\n")

    def test_fails(self, device):
        self.assertFalse((FOLDER / "fails").exists())

    def test_fails_once(self, device):
        once = FOLDER / "once"
        was = once.exists()
        once.unlink(missing_ok=True)
        self.assertFalse(was)

    def test_waits(self, device):
        while (FOLDER / "waits").exists():
            (FOLDER / "waiting").touch()
            time.sleep(0.1)


instantiate_device_type_tests(TestSwitches, globals())

if __name__ == "__main__":
    run_tests()
