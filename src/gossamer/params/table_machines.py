"""Parameters of training on several machines and on a GPU.

The parameters of the network are for `gossamer.distributed.train`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_network = partial(Param, group="Network", changes_model=False)
_gpu = partial(Param, group="GPU", changes_model=False)

NETWORK: Final = (
    _network(
        "num_machines",
        ("num_machine",),
        "int",
        1,
        "Number of machines; see `gossamer.distributed.train`.",
        low=1,
        supported=False,
    ),
    _network(
        "top_k",
        ("topk",),
        "int",
        20,
        "For `tree_learner=voting`: number of features that each machine votes for in a leaf. "
        "The cells of the `2 * top_k` features with the most votes are exchanged.",
        low=1,
    ),
    _network(
        "local_listen_port",
        ("local_port", "port"),
        "int",
        12400,
        "For `gossamer.distributed.train`: the port this machine listens on.",
        low=1,
    ),
    _network(
        "time_out",
        (),
        "int",
        120,
        "For `gossamer.distributed.train`: minutes to wait for another machine.",
        low=1,
    ),
    _network(
        "machine_list_filename",
        ("machine_list_file", "machine_list", "mlist"),
        "str",
        "",
        "For `gossamer.distributed.train`: file that lists the machines, one line `address port`"
        " for each.",
    ),
    _network(
        "machines",
        ("workers", "nodes"),
        "str",
        "",
        "For `gossamer.distributed.train`: the machines as `address:port`, separated by commas.",
    ),
)

GPU: Final = (
    _gpu(
        "gpu_platform_id",
        (),
        "int",
        -1,
        "Accepted, no effect. OpenCL platform; below 0 the system chooses.",
    ),
    _gpu(
        "gpu_device_id",
        (),
        "int",
        -1,
        "Number of the GPU to use; below 0 means the first one.",
        fixed=True,
        changes_model=False,
        kept=False,
    ),
    _gpu(
        "gpu_device_id_list",
        (),
        "str",
        "",
        "Accepted, no effect. GPUs to use, separated by commas.",
    ),
    _gpu(
        "gpu_use_dp", (), "bool", False, "Accepted, no effect. Sum in double precision on the GPU."
    ),
    _gpu("num_gpu", (), "int", 1, "Accepted, no effect. Number of GPUs.", low=1),
)
