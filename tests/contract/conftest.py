"""What the contracts of repositories share."""

import pytest

from tests.contract.stores import Databases


@pytest.fixture(scope="session")
def databases(tmp_path_factory):
    """Makes stores; a server for PostgreSQL starts with the first one that needs it."""
    found = Databases(tmp_path_factory.mktemp("databases"))
    yield found
    found.close()
