-- A square bar of clay is twisted by three turns and becomes a screw with four threads.
--
-- Nothing is said about sizes: the mesh follows by itself, finer where the matter flows and along
-- the ridges that bend. The bar does not spring back; what is elastic of the twist is a degree.
--
--   kiln run scenes/screw.lua -o out/screw
--   kiln render out/screw -o screw.mp4 --edges

local turns, seconds, length, width = 3, 2.0, 1.0, 0.2

return scene {
    name = "screw",
    duration = seconds,
    gravity = { 0, 0, 0 },
    step = { dt = 0.01 },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = length, ly = width, lz = width, nx = 30, ny = 6, nz = 6 },
            at = { 0, -width / 2, -width / 2 },
            material = material {
                young = 1e6, poisson = 0.4, density = 1500,
                plastic = plastic { yield = 1e4, rate = 20 },
            },
        },
    },
    holds = {
        hold { name = "left", where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } },
        hold {
            name = "right",
            where = select.half_space { point = { length - 1e-6, 0, 0 }, normal = { 1, 0, 0 } },
            motion = motion.rotate {
                axis = { 1, 0, 0 },
                angle = function(t) return 2 * math.pi * turns * t / seconds end,
            },
        },
    },
    remesh = "local",
}
