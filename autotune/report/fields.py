"""Problems, configs and compilers, as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from autotune.records import Config, Kernel, Toolchain, Value, installed_kernels, load_kernel


def problem_text(problem: Mapping[str, Value]) -> str:
    """Return ``m=1,n=2``, as a person types it."""
    return _text(problem, ",")


def config_text(kernel: Kernel | None, config: Mapping[str, Value]) -> str:
    """Return ``mechanism=tma stages=5``: what the kernel shows of a config, or all without one."""
    try:
        names = kernel.shown(Config(config)) if kernel else config
        return _text({name: config[name] for name in names}, " ")
    except Exception:  # noqa: BLE001 - a kernel's code, or a config from before it had a parameter
        return _text(config, " ")


def compiler_text(toolchain: Toolchain) -> str:
    """Return name and version: neither the name twice, nor the change list of a build."""
    name, version = toolchain.compiler, toolchain.version.partition(" CL-")[0]
    return version if version.startswith(name) else f"{name} {version}"


@cache
def installed_kernel(reference: str) -> Kernel | None:
    """Return the kernel if it is installed: a file is not run for a report."""
    return load_kernel(reference) if reference in installed_kernels() else None


def _text(fields: Mapping[str, Value], separator: str) -> str:
    return separator.join(f"{name}={value}" for name, value in fields.items())
