"""Public names: which exist, which are on their way out; and the ways of Warp's warnings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from tapecheck.contract import Evidence, check, outcome_of
from tapecheck.contracts.release import kernels
from tapecheck.contracts.release.processes import printed
from tapecheck.faults.release import names as faults
from tapecheck.subjects.warp import WarpSubject

NAMES = {
    "tape": "Tape Tape.backward Tape.record_func Tape.record_scope_begin Tape.reset Tape.visualize Tape.zero",
    "launches": "launch launch_tiled launch(record_tape) launch(record_cmd) launch(adjoint) launch(adj_inputs) "
    "launch(block_dim) Launch Launch.set_param_at_index Launch.launch capture_begin capture_end capture_launch "
    "ScopedCapture ScopedTimer synchronize synchronize_device",
    "arrays": "array array1d array2d array3d array4d array(retain_grad) array(requires_grad) array.grad array.zero_ "
    "array.fill_ array.assign array.numpy array.list array.reshape array.flatten array.contiguous array.view "
    "array.mark_read array.mark_write zeros zeros_like ones ones_like full full_like empty empty_like clone copy "
    "zeros(retain_grad) zeros_like(retain_grad) clone(retain_grad) indexedarray from_ptr",
    "torch": "from_torch to_torch from_torch(return_ctype) from_torch(retain_grad) dtype_from_torch dtype_to_torch "
    "device_from_torch device_to_torch stream_from_torch stream_to_torch from_numpy from_dlpack to_dlpack",
    "declarations": "kernel func func_grad func_replay func_native struct static constant overload map Kernel Function "
    "Module get_module set_module_options get_module_options load_module force_load clear_kernel_cache",
    "types": "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool vec2 vec3 vec4 "
    "vec2d vec3d vec4d mat22 mat33 mat44 mat22d mat33d quat transform vec mat types.vector types.matrix types.array "
    "types.type_is_vector types.type_size_in_bytes",
    "devices": "init get_device get_devices set_device get_cuda_devices is_cuda_available ScopedDevice "
    "ScopedStream Stream Event is_mempool_enabled set_mempool_enabled HashGrid HashGrid.build HashGrid.reserve "
    "HashGrid(dtype) HashGridQuery Bvh",
    "configuration": "config config.verbose config.quiet config.log_level config.mode config.enable_backward "
    "config.max_unroll config.verify_fp config.verify_autograd_array_access config.cache_kernels "
    "config.enable_vector_component_overwrites config.load_module_max_workers LOG_WARNING set_logger",
    "kernel functions": "tid grad atomic_add hash_grid_query hash_grid_query_next hash_grid_point_id hash_grid_cell_id "
    "outer dot length cross transpose inverse where select normalize tile tile_load tile_store tile_zeros tile_ones "
    "tile_sum tile_reduce tile_matmul tile_atomic_add tile_map untile svd3 qr3 eig3 matrix_from_rows matrix_from_cols",
    "modules": ":warp.utils :warp.autograd :warp.optim :warp.sparse :warp.fem :warp.torch :warp.context :warp.codegen "
    ":warp.build :warp.types",
}


def declared_functions(wp: WarpSubject) -> set[str]:
    """What kernels can call: most of it exists in the stub file only."""
    stub = Path(wp.__file__).with_name("__init__.pyi").read_text()
    return set(re.findall(r"^def (\w+)\(", stub, re.MULTILINE))


@check("release.names", isolated=True, faults=[faults.names_are_gone], near_misses=[faults.a_name_is_new])
def names(wp: WarpSubject) -> Evidence:
    functions = declared_functions(wp)
    missing, deprecated = [], []
    for name in " ".join(NAMES.values()).split():
        with printed() as text:
            if wp.missing([name]) and name not in functions:
                missing.append(name)
        if any("Deprecation" in written for written in text.values()):
            deprecated.append(name)
    return Evidence({"missing": missing, "deprecated on access": deprecated})


def backward_without_adjoint(wp: WarpSubject) -> None:
    """Warp warns that a recorded kernel has no adjoint."""
    x, y = (wp.ones(2, dtype=float, requires_grad=True) for _ in "xy")
    with wp.Tape() as tape:
        wp.launch(kernels.square_without_adjoint, dim=2, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.ones(2, dtype=float)})


def deprecated_call(wp: WarpSubject) -> None:
    """Warp warns that `from_ptr` is deprecated; it then fails, in every release, over an argument of its own."""
    memory = wp.ones(2, dtype=float)
    with suppress(TypeError):
        wp.from_ptr(memory.ptr, 2, dtype=float)


WARNED: dict[str, tuple[Callable[[WarpSubject], Any], str]] = {
    "backward without adjoint": (backward_without_adjoint, "incorrect gradients"),
    "deprecated call": (deprecated_call, "from_ptr.* is deprecated"),
}


def streams(written: dict[str, str], text: str) -> list[str]:
    """The standard streams to which a warning was written."""
    return [name for name, content in written.items() if re.search(text, content)]


@check(
    "release.warnings",
    isolated=True,
    seconds=300,
    faults=[faults.warnings_go_to_python],
    near_misses=[faults.other_warnings_go_to_python],
)
def unseen_by_recorders(wp: WarpSubject) -> Evidence:
    def seen(action: Callable[[WarpSubject], Any], text: str) -> dict[str, Any]:
        with printed() as written, warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            action(wp)
        caught = [each for each in recorded if re.search(text, str(each.message))]
        return {"written to": streams(written, text), "recorded": len(caught)}

    return Evidence(
        observed={name: seen(*warned) for name, warned in WARNED.items()},
        expected={name: {"written to": ["standard error"], "recorded": 0} for name in WARNED},
    )


@check(
    "release.warning-filters",
    cases={"error": "error", "ignore": "ignore"},
    isolated=True,
    seconds=300,
    faults=[faults.warnings_pass_every_filter],
    near_misses=[faults.other_warnings_go_to_python],
)
def filters_apply(wp: WarpSubject, applied: Literal["error", "ignore"]) -> Evidence:
    def seen(action: Callable[[WarpSubject], Any], text: str) -> dict[str, Any]:
        with printed() as written, warnings.catch_warnings():
            warnings.filterwarnings(applied, message=f"(?s).*{text}")
            outcome = outcome_of(lambda: action(wp))
        return {"raised": re.search(text, outcome) is not None, "written to": streams(written, text)}

    return Evidence(
        observed={name: seen(*warned) for name, warned in WARNED.items()},
        expected={name: {"raised": applied == "error", "written to": []} for name in WARNED},
    )
