"""`CudaDevice`: an NVIDIA GPU, through the driver that is on the machine.

The kernels come with the package: as machine code for the most common GPUs, for the others as PTX,
which the driver translates. Neither a compiler nor a CUDA toolkit is needed.
"""

from __future__ import annotations

import gzip
import threading
import weakref
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cuda.device import Launch
from gossamer.errors import DeviceError, message

# Compiled kernels by the generation of the GPU; see tools/compile_kernels.py.
_KERNELS: Final = {8: "kernels.sm_80.gz", 9: "kernels.sm_90.gz"}
_KERNELS_OF_OTHERS: Final = "kernels.ptx.gz"
_BITS_OF_ONE: Final = int(np.float32(1).view(np.uint32))
# Shared memory that every kernel may have without asking for it.
_SHARED_OF_ALL: Final = 48 * 1024


def open_device(number: int = 0) -> CudaDevice:
    """Return a GPU by its number, with work of its own: others do not wait for it.

    Raises:
        DeviceError: If the package or the driver is missing, or there is no such GPU.
    """
    return CudaDevice(_open_gpu(number))


def number_of_gpu(address: int) -> int:
    """Return the number of the GPU that memory of another library belongs to.

    An array without rows has no memory: it is predicted on the first GPU.
    """
    if not address:
        return 0
    gpu = _open_gpu(0)
    gpu.enter()
    what = gpu.driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(gpu.do("cuPointerGetAttribute", what, address))


def find_driver() -> Any:
    """Return the bindings of the driver, ready to use.

    Raises:
        DeviceError: If something is missing.
    """
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise DeviceError.because(
            "device_type=cuda needs the package cuda-bindings",
            got=str(error),
            hint='Install it with `pip install "gossamer[cuda]"`, or use device_type=cpu.',
        ) from error
    try:
        result = driver.cuInit(0)[0]
    except RuntimeError:  # the words of cuda-bindings about it are not the user's
        result = "no library of the driver on this machine"
    if result != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError.because(
            "device_type=cuda finds no NVIDIA driver that works",
            found=str(result).rstrip("."),
            hint="Install the NVIDIA driver (535 or newer) and see whether nvidia-smi lists "
            "the GPU, or use device_type=cpu: the results are the same.",
        )
    return driver


def _number_of_devices(driver: Any) -> int:
    result, n = driver.cuDeviceGetCount()
    return int(n) if result == driver.CUresult.CUDA_SUCCESS else 0


@lru_cache
def _open_gpu(number: int) -> _Gpu:
    return _Gpu(number)


class _Gpu:
    """What all users of a GPU share: its context and the kernels."""

    def __init__(self, number: int) -> None:
        self.driver = driver = find_driver()
        self._success = driver.CUresult.CUDA_SUCCESS
        n_devices = _number_of_devices(driver)
        if not 0 <= number < n_devices:
            raise DeviceError.because(
                "there is no GPU with this number",
                got=f"gpu_device_id={number}",
                expected=f"0 to {n_devices - 1}" if n_devices else "a GPU, but there is none",
            )
        device = self.do("cuDeviceGet", number)
        self.context = self.do("cuDevicePrimaryCtxRetain", device)
        self.enter()
        attribute = driver.CUdevice_attribute

        def get(name: Any) -> int:
            return int(self.do("cuDeviceGetAttribute", name, device))

        self.n_processors = get(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.shared_bytes = get(attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        generation = get(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        name = _KERNELS.get(generation, _KERNELS_OF_OTHERS)
        with files("gossamer.cuda").joinpath(name).open("rb") as file:
            code = gzip.decompress(file.read()) + b"\0"
        self._module = self.do("cuModuleLoadData", code)
        self._lock = threading.Lock()
        self._kernels: dict[str, Any] = {}
        self._shared: dict[str, int] = {}

    def do(self, name: str, *args: Any) -> Any:
        """Call a function of the driver."""
        result, *values = getattr(self.driver, name)(*args)
        if result == self._success:
            return values[0] if values else None
        if result == self.driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            free, total = (*self.driver.cuMemGetInfo()[1:], 0, 0)[:2]
            raise MemoryError(
                message(
                    "the GPU does not have enough memory",
                    found=f"{free / 1e9:.2f} GB are free of {total / 1e9:.2f} GB",
                    hint="Use device_type=cpu, fewer leaves or a smaller max_bin.",
                )
            )
        raise DeviceError.because(f"the GPU driver failed in {name}", got=str(result))

    def enter(self) -> None:
        """Make this GPU current in this thread."""
        self.do("cuCtxSetCurrent", self.context)

    def kernel(self, name: str, shared_bytes: int) -> Any:
        """Return a kernel that may have so much shared memory."""
        with self._lock:
            kernel = self._kernels.get(name)
            if kernel is None:
                kernel = self.do("cuModuleGetFunction", self._module, name.encode())
                self._kernels[name] = kernel
            if shared_bytes > self._shared.get(name, _SHARED_OF_ALL):
                attributes = self.driver.CUfunction_attribute
                most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                self.do("cuFuncSetAttribute", kernel, most, shared_bytes)
                self._shared[name] = shared_bytes
        return kernel


class CudaDevice:
    """A GPU with a stream of work of its own."""

    def __init__(self, gpu: _Gpu) -> None:
        """Start a stream."""
        self._gpu = gpu
        self._driver = gpu.driver
        self.n_processors, self.shared_bytes = gpu.n_processors, gpu.shared_bytes
        gpu.enter()
        flags = int(self._driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self._stream = gpu.do("cuStreamCreate", flags)
        weakref.finalize(self, _destroy_stream, gpu, self._stream)

    def _do(self, name: str, *args: Any) -> Any:
        return self._gpu.do(name, *args)

    def _enter(self) -> None:
        self._gpu.enter()

    # ---- memory ----

    def allocate(self, n_bytes: int) -> int:
        """See `Device`."""
        self._enter()
        return int(self._do("cuMemAlloc", n_bytes))

    def free(self, address: int) -> None:
        """See `Device`."""
        self._driver.cuCtxSetCurrent(self._gpu.context)
        self._driver.cuMemFree(address)

    def host_memory(self, n_bytes: int) -> npt.NDArray[np.uint8]:
        """See `Device`."""
        self._enter()
        address = int(self._do("cuMemHostAlloc", max(n_bytes, 1), 0))
        memory = _Memory(address, n_bytes)
        weakref.finalize(memory, self._free_host, address)
        return np.asarray(memory)

    def _free_host(self, address: int) -> None:
        self._driver.cuCtxSetCurrent(self._gpu.context)
        self._driver.cuMemFreeHost(address)

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuMemcpyHtoDAsync", address, values.ctypes.data, values.nbytes, self._stream)

    def read(self, address: int, out: npt.NDArray[Any]) -> None:
        """See `Device`."""
        self.read_later(address, out)
        self.wait()

    def read_later(self, address: int, out: npt.NDArray[Any]) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuMemcpyDtoHAsync", out.ctypes.data, address, out.nbytes, self._stream)

    def copy(self, to: int, address: int, n_bytes: int) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuMemcpyDtoDAsync", to, address, n_bytes, self._stream)

    def clear(self, address: int, n_bytes: int) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuMemsetD8Async", address, 0, n_bytes, self._stream)

    def fill_ones(self, address: int, n_numbers: int) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuMemsetD32Async", address, _BITS_OF_ONE, n_numbers, self._stream)

    def free_bytes(self) -> int:
        """See `Device`."""
        self._enter()
        return int(self._driver.cuMemGetInfo()[1])

    # ---- kernels ----

    def run(self, launches: Sequence[Launch]) -> None:
        """See `Device`."""
        self._enter()
        for launch in launches:
            kernel = self._gpu.kernel(launch.name, launch.shared_bytes)
            pointer = np.array([launch.args.ctypes.data], np.uint64)
            self._do(
                "cuLaunchKernel",
                kernel,
                *(launch.n_blocks, 1, 1),
                *(launch.n_threads, 1, 1),
                launch.shared_bytes,
                self._stream,
                pointer.ctypes.data,
                0,
            )

    def record(self, launches: Sequence[Launch]) -> Any:
        """See `Device`."""
        self._enter()
        for launch in launches:
            self._gpu.kernel(launch.name, launch.shared_bytes)
        mode = self._driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._do("cuStreamBeginCapture", self._stream, mode)
        try:
            self.run(launches)
        finally:
            graph = self._do("cuStreamEndCapture", self._stream)
        executable = self._do("cuGraphInstantiate", graph, 0)
        self._do("cuGraphDestroy", graph)
        recorded = _Recorded(executable)
        weakref.finalize(recorded, self._driver.cuGraphExecDestroy, executable)
        return recorded

    def replay(self, recorded: Any) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuGraphLaunch", recorded.executable, self._stream)

    def wait(self) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuStreamSynchronize", self._stream)

    def settle(self) -> None:
        """See `Device`."""
        self._enter()
        self._do("cuCtxSynchronize")


def _destroy_stream(gpu: _Gpu, stream: Any) -> None:
    gpu.driver.cuCtxSetCurrent(gpu.context)
    gpu.driver.cuStreamDestroy(stream)


class _Recorded:
    def __init__(self, executable: Any) -> None:
        self.executable = executable


class _Memory:
    """Memory of the host at an address, for `np.asarray`."""

    def __init__(self, address: int, n_bytes: int) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (n_bytes,),
            "typestr": "|u1",
            "version": 3,
        }
