"""Particles: densities, forces, contacts, springs, corrections, over a list of neighbours."""

# ruff: noqa: B007, E741
# mypy: ignore-errors

import numpy as np
import warp as wp

from tapecheck.hunt.trial import CSR, signed, trial, uniform

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
V2 = wp.array(dtype=wp.vec2d)
I = wp.array(dtype=wp.int32)
SPREAD = signed(6, 3)


@wp.func
def wendland(q: wp.float64):
    one = wp.float64(1.0)
    if q < wp.float64(4.0):
        t = one - q / wp.float64(4.0)
        return t * t * t * t * (one + q)
    return wp.float64(0.0)


@trial("density by a Wendland kernel", fixed=CSR, x=SPREAD, m=(6,))
def density(rows: I, near: I, x: V, m: X, y: X):
    i = wp.tid()
    rho = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        rho += m[j] * wendland(wp.length(x[i] - x[j]))
    y[i] = rho


@trial("pressure from the density of the same kernel", fixed=CSR, x=SPREAD, m=(6,))
def density_then_pressure(rows: I, near: I, x: V, m: X, y: X):
    i = wp.tid()
    rho = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        rho += m[j] * wendland(wp.length(x[i] - x[j]))
    y[i] = wp.pow(rho, wp.float64(3.0)) - rho


@wp.func
def density_at(rows: I, near: I, x: V, m: X, i: int):
    rho = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        rho += m[j] * wendland(wp.length(x[i] - x[j]))
    return rho


@trial("pressure from the density of a function", fixed=CSR, x=SPREAD, m=(6,))
def density_func_pressure(rows: I, near: I, x: V, m: X, y: X):
    i = wp.tid()
    rho = density_at(rows, near, x, m, i)
    y[i] = wp.pow(rho, wp.float64(3.0)) - rho


@trial("symmetric pressure forces with artificial viscosity", fixed=CSR, x=SPREAD, v=SPREAD, rho=(6,))
def momentum(rows: I, near: I, x: V, v: V, rho: X, y: V):
    i = wp.tid()
    f = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        d = x[i] - x[j]
        w = v[i] - v[j]
        r2 = wp.dot(d, d) + wp.float64(0.01)
        p = rho[i] * rho[i] + rho[j] * rho[j]
        vr = wp.dot(w, d)
        if vr < wp.float64(0.0):
            mu = vr / r2
            p += mu * mu - mu * (rho[i] + rho[j])
        f -= d * (p * wp.exp(-r2))
    y[i] = f


@trial("a gradient with a correction matrix, both summed in one loop, solved after it", fixed=CSR, x=SPREAD, s=(6,))
def corrected_gradient(rows: I, near: I, x: V, s: X, y: V):
    i = wp.tid()
    m = wp.identity(n=3, dtype=wp.float64)
    g = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        d = x[j] - x[i]
        m += wp.outer(d, d)
        g += d * (s[j] - s[i])
    y[i] = wp.inverse(m) * g


@wp.func
def moments(rows: I, near: I, x: V, s: X, i: int):
    m = wp.identity(n=3, dtype=wp.float64)
    g = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        d = x[j] - x[i]
        m += wp.outer(d, d)
        g += d * (s[j] - s[i])
    return m, g


@trial("a gradient with a correction matrix, the sums returned by a function", fixed=CSR, x=SPREAD, s=(6,))
def corrected_gradient_func(rows: I, near: I, x: V, s: X, y: V):
    i = wp.tid()
    m, g = moments(rows, near, x, s, i)
    y[i] = wp.inverse(m) * g


@trial("a correction matrix added up element by element", fixed=CSR, x=SPREAD)
def moments_by_elements(rows: I, near: I, x: V, y: wp.array(dtype=wp.mat33d)):
    i = wp.tid()
    m = wp.mat33d()
    for k in range(rows[i], rows[i + 1]):
        d = x[near[k]] - x[i]
        for a in range(3):
            for b in range(3):
                m[a, b] += d[a] * d[b] * wp.length(d)
    y[i] = m


@trial("velocity gradient and strain rate, its invariant after the loop", fixed=CSR, x=SPREAD, v=SPREAD)
def strain_rate(rows: I, near: I, x: V, v: V, y: X):
    i = wp.tid()
    g = wp.mat33d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        g += wp.outer(v[j] - v[i], x[j] - x[i])
    e = (g + wp.transpose(g)) * wp.float64(0.5)
    y[i] = wp.sqrt(wp.ddot(e, e))


@trial("contact with a ground: spring, damper, friction", x=signed(8, 3), v=signed(8, 3), output=(8,))
def ground_contact(x: V, v: V, y: V):
    i = wp.tid()
    n = wp.vec3d(wp.float64(0.0), wp.float64(1.0), wp.float64(0.0))
    depth = wp.dot(n, x[i])
    if depth >= wp.float64(0.0):
        y[i] = v[i] * wp.float64(0.5)
        return
    vn = wp.dot(n, v[i])
    vt = v[i] - n * vn
    fn = depth * wp.float64(-10.0) - wp.min(vn, wp.float64(0.0))
    slip = wp.length(vt)
    ft = wp.vec3d()
    if slip > wp.float64(0.0):
        ft = wp.normalize(vt) * wp.min(slip * wp.float64(2.0), wp.float64(0.3) * wp.abs(fn))
    y[i] = n * fn - ft


@trial("contacts between spheres, only where they overlap", fixed=CSR, x=SPREAD, r=uniform(6, low=0.8, high=1.4))
def sphere_contacts(rows: I, near: I, x: V, r: X, y: V):
    i = wp.tid()
    f = wp.vec3d()
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        d = x[i] - x[j]
        gap = wp.length(d) - r[i] - r[j]
        if gap < wp.float64(0.0):
            f -= wp.normalize(d) * gap * wp.sqrt(-gap)
    y[i] = f


@trial("periodic pair distances by `round`", fixed=CSR, x=SPREAD)
def minimum_image(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    length = wp.float64(2.5)
    for k in range(rows[i], rows[i + 1]):
        d = x[i] - x[near[k]]
        d = d - wp.vec3d(wp.round(d[0] / length), wp.round(d[1] / length), wp.round(d[2] / length)) * length
        s += wp.exp(-wp.dot(d, d))
    y[i] = s


@trial("periodic pair distances, each component mended by `if`", fixed=CSR, x=SPREAD)
def minimum_image_components(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    length = wp.float64(2.5)
    for k in range(rows[i], rows[i + 1]):
        d = x[i] - x[near[k]]
        for a in range(3):
            if d[a] > wp.float64(0.5) * length:
                d[a] -= length
            elif d[a] < wp.float64(-0.5) * length:
                d[a] += length
        s += wp.exp(-wp.dot(d, d))
    y[i] = s


@trial("periodic pair distances, each component assigned anew", fixed=CSR, x=SPREAD)
def minimum_image_assigned(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    s = wp.float64(0.0)
    length = wp.float64(2.5)
    for k in range(rows[i], rows[i + 1]):
        d = x[i] - x[near[k]]
        for a in range(3):
            d[a] = d[a] - wp.round(d[a] / length) * length
        s += wp.exp(-wp.dot(d, d))
    y[i] = s


@trial("a cut-off pair potential with a shift", fixed=CSR, x=SPREAD)
def lennard_jones(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    e = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        d = x[i] - x[near[k]]
        r2 = wp.dot(d, d)
        if near[k] == i or r2 > wp.float64(6.25):
            continue
        s6 = wp.float64(1.0) / (r2 * r2 * r2)
        e += wp.float64(4.0) * (s6 * s6 - s6)
    y[i] = e


@trial("three-body angles over pairs of neighbours", fixed=CSR, x=SPREAD)
def three_body(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    e = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        a = wp.normalize(x[near[k]] - x[i])
        for m in range(k + 1, rows[i + 1]):
            b = wp.normalize(x[near[m]] - x[i])
            c = wp.dot(a, b) + wp.float64(1.0) / wp.float64(3.0)
            e += c * c
    y[i] = e


@trial("an embedded-atom energy: root of a sum and a pair sum", fixed=CSR, x=SPREAD)
def embedded_atom(rows: I, near: I, x: V, y: X):
    i = wp.tid()
    rho = wp.float64(0.0)
    pair = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        r = wp.length(x[i] - x[near[k]])
        rho += wp.exp(-r)
        pair += wp.exp(wp.float64(-2.0) * r)
    y[i] = pair - wp.sqrt(rho)


@trial("a smoothed velocity divided by the sum of its weights", fixed=CSR, x=SPREAD, v=SPREAD)
def shepard(rows: I, near: I, x: V, v: V, y: V):
    i = wp.tid()
    s = wp.vec3d()
    w = wp.float64(0.0)
    for k in range(rows[i], rows[i + 1]):
        j = near[k]
        a = wendland(wp.length(x[i] - x[j]))
        s += v[j] * a
        w += a
    y[i] = s / w


PAIRS = (np.array([0, 1, 2, 3, 0, 4], dtype=np.int32), np.array([1, 2, 3, 0, 2, 5], dtype=np.int32))


@trial("springs scatter forces to both ends", output=(6,), dim=6, fixed=PAIRS, x=SPREAD, v=SPREAD, k=(6,))
def springs(first: I, second: I, x: V, v: V, k: X, y: V):
    t = wp.tid()
    i = first[t]
    j = second[t]
    d = x[i] - x[j]
    r = wp.length(d)
    n = d / r
    f = n * (k[t] * (r - wp.float64(1.0)) + wp.dot(v[i] - v[j], n))
    wp.atomic_sub(y, i, f)
    wp.atomic_add(y, j, f)


@trial("steps of explicit Euler in an unrolled loop", x=SPREAD, v=SPREAD, output=(6,))
def semi_implicit(x: V, v: V, y: V):
    i = wp.tid()
    p = x[i]
    u = v[i]
    for k in range(4):
        u += (-p * wp.length(p) - u * wp.float64(0.1)) * wp.float64(0.1)
        p += u * wp.float64(0.1)
    y[i] = p


@trial("steps of explicit Euler in a loop of run-time length", fixed=(4,), x=SPREAD, v=SPREAD, output=(6,))
def semi_implicit_dynamic(n: int, x: V, v: V, y: V):
    i = wp.tid()
    p = x[i]
    u = v[i]
    for k in range(n):
        u += (-p * wp.length(p) - u * wp.float64(0.1)) * wp.float64(0.1)
        p += u * wp.float64(0.1)
    y[i] = p


@trial("vectors normalised where they are long enough", x=SPREAD, output=(6,))
def limited_speed(x: V, y: V):
    i = wp.tid()
    v = x[i]
    s = wp.length(v)
    if s > wp.float64(1.5):
        v = v * (wp.float64(1.5) / s)
    y[i] = v * s
