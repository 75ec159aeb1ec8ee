"""A test file that has the word instantiate_device_type_tests, and no call of it."""

raise AssertionError("nobody imports this file")
