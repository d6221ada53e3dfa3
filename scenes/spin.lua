-- A block spins freely about an axis that is none of its principal axes.
--
-- Nothing holds it and nothing pulls: momentum and angular momentum stay what they are while the
-- block tumbles and is stretched by its own rotation. `kiln plot` shows both.
--
--   kiln run scenes/spin.lua -o out/spin
--   kiln render out/spin -o spin.mp4 --field speed
--   kiln plot out/spin

return scene {
    name = "spin",
    duration = 3,
    gravity = { 0, 0, 0 },
    step = { integrator = "newmark", dt = 0.01 },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "block",
            shape = shape.box { lx = 1, ly = 0.5, lz = 0.25, n = 3, nx = 12, ny = 6 },
            at = { -0.5, -0.25, 0 },
            spin = { 0.3, 7, 0.5 },
            material = material { young = 1e5, poisson = 0.4, density = 1000 },
        },
    },
}
