-- Dough between two plates that part: it is drawn to a waist, and tears there.
--
-- `tear = tear { stress = ... }` lets liquid tear where its surface is hollow and it is pulled by more than that (viscous stress
-- and pressure, of smoothed velocities); the tear goes across the pull, as far as that and what is handed on (`carry`) are enough.
--
--   kiln run scenes/tear.lua -o out/tear
--   kiln render out/tear --look honey --camera 90,0 --sheet 2x4 -o tear.png

local n = param("n", 5) -- cells across
local width, length = 12e-3, 18e-3 -- m
local speed = param("speed", 0.04) -- m/s, of the head
local h = width / n

local dough = material {
    density = 1200,
    viscosity = param("viscosity", 100),
    liquid = liquid { surface_tension = 0.05 },
}

return scene {
    name = "tear",
    duration = param("duration", 0.6),
    step = { dt = param("dt", 5e-3), integrator = param("by", "implicit-euler") },
    output = { frame = 0.02 },
    tear = tear { stress = param("stress", 1000) },
    bodies = {
        body {
            name = "dough",
            shape = shape.box { lx = width, ly = width, lz = length, nx = n, ny = n, nz = math.floor(length / h + 0.5), pattern = "mirrored" },
            at = { -width / 2, -width / 2, 0 },
            material = dough,
        },
    },
    holds = {
        hold { name = "foot", where = select.half_space { point = { 0, 0, 1e-6 }, normal = { 0, 0, -1 } } },
        hold {
            name = "head",
            where = select.half_space { point = { 0, 0, length - 1e-6 }, normal = { 0, 0, 1 } },
            motion = motion.translate { shift = function(t) return { 0, 0, speed * t } end },
        },
    },
}
