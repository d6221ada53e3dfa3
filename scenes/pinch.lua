-- A thread of water whose ends fly apart: it necks, pinches off on both sides and leaves a satellite.
--
-- Liquid breaks where `remesh = { pinch = ... }` asks for it: necks narrower than this part of the mean edge of the start,
-- drawn out further, open where they are narrowest, and both ends draw back. Mass, momentum and rest volume are kept to the
-- last digits, the surface falls.
--
--   kiln run scenes/pinch.lua -o out/pinch
--   kiln render out/pinch --look water --camera 90,0 --sheet 2x4 -o pinch.png

local n = param("n", 4) -- cells across
local length, width = 4.8e-3, 1.2e-3 -- m
local speed = param("speed", 0.7)    -- m/s, of each end

local water = material {
    density = 998,
    viscosity = param("viscosity", 5e-3),
    liquid = liquid { surface_tension = 72e-3 },
}

return scene {
    name = "pinch",
    duration = param("duration", 8e-3),
    step = { dt = 1e-4 },
    output = { frame = 2.5e-4 },
    contact = contact { thickness = 0.08 * width / n, self = true },
    remesh = remesh { pinch = param("pinch", 0.9), merge = 0.2, size_min = 0.7 * width / n },
    bodies = {
        body {
            name = "thread",
            shape = shape.box { lx = length, ly = width, lz = width, nx = 4 * n, ny = n, nz = n, pattern = "mirrored" },
            at = { -length / 2, -width / 2, -width / 2 },
            material = water,
            velocity = function(u) return { speed * math.max(-1, math.min(1, u[1] / 0.9e-3)), 0, 0 } end,
        },
    },
}
