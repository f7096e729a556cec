"""A live device: compilers in their processes, candidates in one lane, nothing in this one."""

from __future__ import annotations

from concurrent.futures import Future

from autotune.device.fit import misfit, slow
from autotune.device.lane import Lane
from autotune.device.lock import DeviceLock
from autotune.device.messages import Job
from autotune.errors import InvalidInput
from autotune.records import (
    Binary,
    Candidate,
    Config,
    DeviceIdentity,
    Failure,
    Kernel,
    LibraryKernel,
    Limits,
    Outcome,
    Policy,
    Problem,
    Status,
    Toolchain,
    ask,
    device_language,
)
from autotune.toolchain import (
    BinaryStore,
    CompilePool,
    Compiler,
    library_binary,
    require_headers,
    source_digest,
)
from autotune.toolchain.pool import usable_cpus

# More would compile faster than one device measures, and each candidate that is asked ahead is
# one that the search chose without its predecessors' results.
MOST_COMPILERS = 16

_RUNS = {"c++": "host", "cuda": "recording:h200"}  # a device that any machine has


class LiveDevice:
    """Builds and measures candidates on the device that ``lane`` owns.

    Args:
        name: How the user names it.
        compiler: What builds for it.
        lane: What runs on it; the device closes it.
        limits: When a compile is given up, in seconds.
        store: Where binaries are kept; None means the usual place.
    """

    replays = False

    def __init__(
        self,
        name: str,
        *,
        compiler: Compiler,
        lane: Lane,
        limits: Limits,
        store: BinaryStore | None = None,
    ) -> None:
        self.name = name
        self.identity: DeviceIdentity = lane.identity()
        self._compiler = compiler
        self._lane = lane
        self._limits = limits
        self._store = store or BinaryStore()
        self._pool: CompilePool | None = None
        self._lock = DeviceLock(self.identity.uuid, name)

    @property
    def lookahead(self) -> int:
        """Twice the compilers: while one half is being built, the other waits to be measured."""
        return 2 * _processes()

    def policy(self, requested: Policy) -> Policy:
        """Return ``requested``: it measures as it is asked to."""
        return requested

    def toolchain_of(self, kernel: Kernel) -> Toolchain:
        """Return what compiles ``kernel``, or the library that it is a call of."""
        if isinstance(kernel, LibraryKernel):
            return ask(kernel, "toolchain", gives=Toolchain)
        return self._compiler.toolchain

    def preflight(self, kernel: Kernel) -> None:
        """Raise unless this device can build and run ``kernel``."""
        wanted, offered = device_language(kernel), self._compiler.language
        if wanted != offered:
            raise InvalidInput(
                f"kernel {kernel.name!r} needs a device that runs {wanted}; "
                f"device {self.name} runs {offered}",
                hint=f"add --device {_RUNS[wanted]}" if wanted in _RUNS else "",
            )
        if isinstance(kernel, LibraryKernel):
            self.toolchain_of(kernel)  # raises where there is no such library
        else:
            self._compiler.preflight(arch=self.identity.target.arch)

    def rehearse(self, candidate: Candidate) -> None:
        """Build ``candidate`` and raise if a header that it needs is missing."""
        built = self.build(candidate).result()
        if isinstance(built, Failure):
            require_headers(self._compiler, candidate.unit(), built)

    def source_digest(self, candidate: Candidate) -> str:
        """Return a digest of the kernel's source with every header that it includes."""
        return source_digest(candidate.unit())

    def offers(self, kernel: Kernel, problem: Problem) -> tuple[Config, ...] | None:
        """Return None: it can answer for every config."""
        del kernel, problem
        return None

    def build(self, candidate: Candidate) -> Future[Binary | Failure]:
        """Start to compile ``candidate``, or find its binary."""
        try:
            unit = candidate.unit()
            if isinstance(candidate.kernel, LibraryKernel):
                return _done(library_binary(self.toolchain_of(candidate.kernel), unit))
        except InvalidInput as error:
            return _done(Failure(status=Status.COMPILE_ERROR, message=error.message))
        return self._compilers().submit(unit)

    def _compilers(self) -> CompilePool:
        if self._pool is None:
            arch, limit_s = self.identity.target.arch, self._limits.compile_s
            self._pool = CompilePool(
                self._compiler, self._store, arch=arch, limit_s=limit_s, workers=_processes()
            )
        return self._pool

    def measure(
        self,
        candidate: Candidate,
        binary: Binary,
        policy: Policy,
        *,
        best_ns: float | None = None,
    ) -> Outcome:
        """Verify and time ``candidate`` in the lane; wait while another study uses the device."""
        resources = binary.resources
        try:
            launch = candidate.launch()
        except InvalidInput as error:
            return Outcome(status=Status.RUNTIME_ERROR, message=error.message)
        reason = slow(resources) or misfit(resources, launch, candidate.target)
        if reason is not None:
            return Outcome(status=Status.RESOURCES, message=reason)
        self._lock.acquire()
        job = Job(
            kernel_ref=candidate.kernel_ref,
            problem=candidate.problem.as_dict(),
            target=candidate.target,
            policy=policy,
        )
        return self._lane.measure(job, config=candidate.config, binary=binary, best_ns=best_ns)

    def close(self) -> None:
        """End the compilers and the lane, and let the next study in."""
        try:
            if self._pool is not None:
                self._pool.close()
        finally:
            self._lane.close()
            self._lock.release()


def _done(outcome: Binary | Failure) -> Future[Binary | Failure]:
    answer: Future[Binary | Failure] = Future()
    answer.set_result(outcome)
    return answer


def _processes() -> int:
    return min(MOST_COMPILERS, usable_cpus())
