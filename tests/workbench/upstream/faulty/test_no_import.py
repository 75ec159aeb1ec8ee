"""A test file that this environment can't import."""

import a_module_that_nobody_has  # noqa: F401
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class TestNever(TestCase):
    def test_it(self, device):
        pass


instantiate_device_type_tests(TestNever, globals())
