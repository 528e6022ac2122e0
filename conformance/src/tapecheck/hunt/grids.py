"""Fields on grids: differences, interpolation, advection, fluxes, particle-grid transfers."""

# mypy: ignore-errors

import warp as wp

from tapecheck.hunt.trial import signed, trial, uniform

X = wp.array(dtype=wp.float64)
X2 = wp.array2d(dtype=wp.float64)
X3 = wp.array3d(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
V2 = wp.array(dtype=wp.vec2d)

INSIDE = uniform(4, 3, low=0.1, high=1.9)


@trial("five-point Laplacian with edges in branches", output=(4, 4), dim=(4, 4), x=(4, 4))
def laplacian(x: X2, y: X2):
    i, j = wp.tid()
    c = x[i, j]
    s = wp.float64(0.0)
    if i > 0:
        s += x[i - 1, j] - c
    if i < 3:
        s += x[i + 1, j] - c
    if j > 0:
        s += x[i, j - 1] - c
    if j < 3:
        s += x[i, j + 1] - c
    y[i, j] = s * c


@trial("first-order upwind differences", x=(6,), u=signed(6), output=(6,))
def upwind(x: X, u: X, y: X):
    i = wp.tid()
    if u[i] > wp.float64(0.0):
        y[i] = u[i] * (x[i] - x[(i + 5) % 6])
    else:
        y[i] = u[i] * (x[(i + 1) % 6] - x[i])


@trial("upwind differences by `min` and `max`", x=(6,), u=signed(6), output=(6,))
def upwind_by_max(x: X, u: X, y: X):
    i = wp.tid()
    zero = wp.float64(0.0)
    back = x[i] - x[(i + 5) % 6]
    ahead = x[(i + 1) % 6] - x[i]
    y[i] = wp.max(u[i], zero) * back + wp.min(u[i], zero) * ahead


@wp.func
def minmod(a: wp.float64, b: wp.float64):
    if a * b <= wp.float64(0.0):
        return wp.float64(0.0)
    if wp.abs(a) < wp.abs(b):
        return a
    return b


@trial("slopes limited by minmod", x=signed(6), output=(6,))
def limited_slopes(x: X, y: X):
    i = wp.tid()
    s = minmod(x[i] - x[(i + 5) % 6], x[(i + 1) % 6] - x[i])
    y[i] = s * s + s * x[i]


@trial("van Leer's limiter", x=uniform(6, low=0.0, high=3.0), output=(6,))
def van_leer(x: X, y: X):
    i = wp.tid()
    a = x[i] - x[(i + 5) % 6]
    b = x[(i + 1) % 6] - x[i]
    r = a / (b + wp.float64(0.001))
    y[i] = (r + wp.abs(r)) / (wp.float64(1.0) + wp.abs(r))


@trial("a flux of Lax and Friedrichs, added to both cells", x=signed(6), output=(6,), dim=6)
def lax_friedrichs(x: X, y: X):
    i = wp.tid()
    j = (i + 1) % 6
    speed = wp.max(wp.abs(x[i]), wp.abs(x[j]))
    flux = wp.float64(0.25) * (x[i] * x[i] + x[j] * x[j]) - wp.float64(0.5) * speed * (x[j] - x[i])
    wp.atomic_sub(y, i, flux)
    wp.atomic_add(y, j, flux)


@trial("the weights of a fifth-order WENO scheme", x=signed(8), output=(8,))
def weno(x: X, y: X):
    i = wp.tid()
    a = x[(i + 6) % 8]
    b = x[(i + 7) % 8]
    c = x[i]
    d = x[(i + 1) % 8]
    one = wp.float64(1.0)
    eps = wp.float64(0.01)
    s0 = (a - b) * (a - b) + (a - wp.float64(2.0) * b + c) * (a - wp.float64(2.0) * b + c)
    s1 = (b - d) * (b - d) + (b - wp.float64(2.0) * c + d) * (b - wp.float64(2.0) * c + d)
    w0 = one / ((eps + s0) * (eps + s0))
    w1 = wp.float64(2.0) / ((eps + s1) * (eps + s1))
    y[i] = (w0 * (wp.float64(1.5) * c - wp.float64(0.5) * b) + w1 * wp.float64(0.5) * (c + d)) / (w0 + w1)


@wp.func
def bilinear(x: X2, p: wp.vec2d):
    i = int(wp.floor(p[0]))
    j = int(wp.floor(p[1]))
    u = p[0] - wp.float64(i)
    v = p[1] - wp.float64(j)
    one = wp.float64(1.0)
    low = x[i, j] * (one - v) + x[i, j + 1] * v
    high = x[i + 1, j] * (one - v) + x[i + 1, j + 1] * v
    return low * (one - u) + high * u


@trial("semi-Lagrangian advection: trace back, interpolate", x=(5, 5), u=uniform(9, 2, low=-0.9, high=0.9), output=(9,))
def semi_lagrangian(x: X2, u: V2, y: X):
    t = wp.tid()
    p = wp.vec2d(wp.float64(1 + t // 3), wp.float64(1 + t % 3)) - u[t]
    y[t] = bilinear(x, p)


@trial("trilinear interpolation in loops over the corners", x=(3, 3, 3), p=INSIDE)
def trilinear_loops(x: X3, p: V, y: X):
    t = wp.tid()
    i = int(wp.floor(p[t][0]))
    j = int(wp.floor(p[t][1]))
    k = int(wp.floor(p[t][2]))
    f = p[t] - wp.vec3d(wp.float64(i), wp.float64(j), wp.float64(k))
    one = wp.float64(1.0)
    wx = wp.vec2d(one - f[0], f[0])
    wy = wp.vec2d(one - f[1], f[1])
    wz = wp.vec2d(one - f[2], f[2])
    s = wp.float64(0.0)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                s += wx[a] * wy[b] * wz[c] * x[i + a, j + b, k + c]
    y[t] = s * s


@trial("trilinear interpolation with weights chosen by `if`", x=(3, 3, 3), p=INSIDE)
def trilinear_branches(x: X3, p: V, y: X):
    t = wp.tid()
    i = int(wp.floor(p[t][0]))
    j = int(wp.floor(p[t][1]))
    k = int(wp.floor(p[t][2]))
    f = p[t] - wp.vec3d(wp.float64(i), wp.float64(j), wp.float64(k))
    s = wp.float64(0.0)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                w = wp.float64(1.0)
                if a == 1:
                    w *= f[0]
                else:
                    w *= wp.float64(1.0) - f[0]
                if b == 1:
                    w *= f[1]
                else:
                    w *= wp.float64(1.0) - f[1]
                if c == 1:
                    w *= f[2]
                else:
                    w *= wp.float64(1.0) - f[2]
                s += w * x[i + a, j + b, k + c]
    y[t] = s


@trial("trilinear interpolation with weights chosen by a conditional expression", x=(3, 3, 3), p=INSIDE)
def trilinear_ternary(x: X3, p: V, y: X):
    t = wp.tid()
    i = int(wp.floor(p[t][0]))
    j = int(wp.floor(p[t][1]))
    k = int(wp.floor(p[t][2]))
    f = p[t] - wp.vec3d(wp.float64(i), wp.float64(j), wp.float64(k))
    s = wp.float64(0.0)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                wa = f[0] if a == 1 else wp.float64(1.0) - f[0]
                wb = f[1] if b == 1 else wp.float64(1.0) - f[1]
                wc = f[2] if c == 1 else wp.float64(1.0) - f[2]
                s += wa * wb * wc * x[i + a, j + b, k + c]
    y[t] = s


@trial("trilinear interpolation in loops of run-time length", fixed=(2,), x=(3, 3, 3), p=INSIDE)
def trilinear_dynamic(n: int, x: X3, p: V, y: X):
    t = wp.tid()
    i = int(wp.floor(p[t][0]))
    j = int(wp.floor(p[t][1]))
    k = int(wp.floor(p[t][2]))
    f = p[t] - wp.vec3d(wp.float64(i), wp.float64(j), wp.float64(k))
    s = wp.float64(0.0)
    for a in range(n):
        for b in range(n):
            for c in range(n):
                w = wp.float64(1.0)
                w *= wp.where(a == 1, f[0], wp.float64(1.0) - f[0])
                w *= wp.where(b == 1, f[1], wp.float64(1.0) - f[1])
                w *= wp.where(c == 1, f[2], wp.float64(1.0) - f[2])
                s += w * x[i + a, j + b, k + c]
    y[t] = s


@wp.func
def quadratic_weights(f: wp.float64):
    half = wp.float64(0.5)
    a = wp.float64(1.5) - f
    b = f - wp.float64(1.0)
    c = f - half
    return wp.vec3d(half * a * a, wp.float64(0.75) - b * b, half * c * c)


@trial("particles to grid with quadratic weights", output=(4, 4), dim=4, p=uniform(4, 2, low=0.6, high=1.4), m=(4,))
def particles_to_grid(p: V2, m: X, y: X2):
    t = wp.tid()
    i = int(wp.floor(p[t][0] - wp.float64(0.5)))
    j = int(wp.floor(p[t][1] - wp.float64(0.5)))
    wx = quadratic_weights(p[t][0] - wp.float64(i))
    wy = quadratic_weights(p[t][1] - wp.float64(j))
    for a in range(3):
        for b in range(3):
            wp.atomic_add(y, i + a, j + b, wx[a] * wy[b] * m[t])


@trial("grid to particles with quadratic weights and an affine matrix", p=uniform(4, 2, low=0.6, high=1.4), v=(4, 4))
def grid_to_particles(p: V2, v: X2, y: X):
    t = wp.tid()
    i = int(wp.floor(p[t][0] - wp.float64(0.5)))
    j = int(wp.floor(p[t][1] - wp.float64(0.5)))
    wx = quadratic_weights(p[t][0] - wp.float64(i))
    wy = quadratic_weights(p[t][1] - wp.float64(j))
    offset = wp.vec3d(wp.float64(0.0), wp.float64(1.0), wp.float64(2.0))
    c = wp.mat22d()
    s = wp.float64(0.0)
    for a in range(3):
        for b in range(3):
            w = wx[a] * wy[b]
            g = wp.vec2d(v[i + a, j + b], v[i + b, j + a])
            d = wp.vec2d(offset[a], offset[b]) - wp.vec2d(p[t][0] - wp.float64(i), p[t][1] - wp.float64(j))
            s += w * v[i + a, j + b]
            c += wp.outer(g, d) * w
    y[t] = s * wp.determinant(c) + wp.trace(c)


@trial("the curl of a staggered field", output=(2, 2), dim=(2, 2), u=(3, 3), v=(3, 3))
def staggered_curl(u: X2, v: X2, y: X2):
    i, j = wp.tid()
    c = (v[i + 1, j] - v[i, j]) - (u[i, j + 1] - u[i, j])
    y[i, j] = c * wp.abs(c)


@trial("a smoothed total variation", output=(1,), dim=(3, 3), x=(4, 4))
def total_variation(x: X2, y: X):
    i, j = wp.tid()
    dx = x[i + 1, j] - x[i, j]
    dy = x[i, j + 1] - x[i, j]
    wp.atomic_add(y, 0, wp.sqrt(dx * dx + dy * dy + wp.float64(0.001)))


@trial("a reaction and diffusion step with saturation", x=(6,), w=(6,), output=(6,))
def reaction_diffusion(x: X, w: X, y: X):
    i = wp.tid()
    lap = x[(i + 1) % 6] + x[(i + 5) % 6] - wp.float64(2.0) * x[i]
    rate = x[i] * x[i] * w[i] / (wp.float64(1.0) + x[i] * x[i])
    y[i] = wp.max(x[i] + wp.float64(0.1) * (lap + rate), wp.float64(0.0))
