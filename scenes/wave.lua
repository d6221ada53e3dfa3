-- A wave runs along a soft rod, and the mesh with it (Ferguson et al. 2023, the shaken rod).
--
-- One end stands, the other is shaken twice and let rest. Where the wave is, edges are split because
-- the energy of the step falls by it; behind it they are collapsed. A part of the energy is asked for,
-- as the wave begins with little.
--
--   kiln run scenes/wave.lua -o out/wave
--   kiln render out/wave -o wave.mp4 --edges --camera=-90,10
--   kiln plot out/wave

local shakes = param("shakes", 1)

return scene {
    name = "wave",
    duration = param("duration", 3),
    step = { integrator = "bdf2", dt = 0.0125 },
    remesh = remesh { method = param("method", "energy"), part = param("part", 1.2e-5), collapse_part = 2, quality = 0.05 },
    output = { frame = 0.05, fields = { "velocity", "mises" } },
    bodies = {
        body {
            name = "rod",
            shape = shape.box { lx = 2, ly = 0.1, lz = 0.1, nx = 20, ny = 1, nz = 1, pattern = "mirrored" },
            material = material { model = "neo-hookean", young = 1e4, poisson = 0.45, density = 1340 },
        },
    },
    holds = {
        hold { name = "stands", where = select.half_space { point = { 0.001, 0, 0 }, normal = { -1, 0, 0 } } },
        hold {
            name = "shaken",
            where = select.half_space { point = { 1.999, 0, 0 }, normal = { 1, 0, 0 } },
            motion = motion.translate {
                shift = function(t)
                    local s = math.min(2 * t, shakes)
                    return { 0, 0, 0.16 * (1 - math.cos(2 * math.pi * s)) }
                end,
            },
        },
    },
}
