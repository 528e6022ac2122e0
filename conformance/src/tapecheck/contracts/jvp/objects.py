"""What reaches the forward-mode rule of a core."""

from tapecheck.contract import Evidence
from tapecheck.contracts.coring import FLOATS, called, check_core, duals_of, particles
from tapecheck.faults.jvp import objects as faults
from tapecheck.subjects.core import Core


@check_core(
    "jvp.caller-objects",
    faults=[faults.states_made_from_copies, faults.supports_detached],
    near_misses=[faults.particles_copied],
)
def caller_objects(core: Core) -> Evidence:
    from torch.autograd import forward_ad

    observed = {}
    for varying in FLOATS:
        with forward_ad.dual_level(), core.pushing() as launches:
            given, _ = duals_of(particles(), varying)
            called(core.density, given)
            names = {id(tensor): name for name, tensor in vars(given).items()}
            read = {names.get(id(tensor), place) for launch in launches for place, tensor, _ in launch}
        observed[varying] = sorted(name for name in read if not name.startswith("adj_"))
    return Evidence(observed, {varying: sorted(FLOATS) for varying in FLOATS})
