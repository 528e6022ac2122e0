"""How torch.autograd sees a Warp kernel: layout, structs, specification, launch, Function."""
