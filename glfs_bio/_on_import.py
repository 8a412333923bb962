"""Do something once a package has been imported, and not import it for that."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


def when_imported(package: str, action: Callable[[], None]) -> None:
    """Run `action` now if `package` is imported, else right after it has been."""
    if package in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Waiting(package, action))


class _Waiting(MetaPathFinder):
    """Finds a package as it would be found, and adds an action to the end of its import."""

    def __init__(self, package: str, action: Callable[[], None]) -> None:
        self.package, self.action = package, action

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.package:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                self.action()

            loader.exec_module = exec_module
        return spec
