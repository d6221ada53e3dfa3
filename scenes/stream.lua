-- A stream falls out of a tube of 1 mm and breaks up into drops (Clausen et al. 2013, fig. 12).
--
-- A thread of liquid is not stable: waves longer than its circumference grow, by tension, and pinch it off (Rayleigh and
-- Plateau). The tube trembles a little (`shake`), as in experiments, with the wave that grows fastest, so that drops come off
-- at a steady place and of one size. What falls past the end is taken away and counted.
--
--   kiln run scenes/stream.lua -o out/stream
--   kiln render out/stream --look water --camera 90,0 --sheet 8x1 -o stream.png

local radius = 0.5e-3                -- m, of the tube
local h = param("h", 0.22e-3)        -- m, edges at the start
local speed = param("speed", 0.6)    -- m/s
local shake = param("shake", 0.05)   -- of the speed
local depth = param("depth", 30e-3)  -- m, to where it is taken away

-- The paper's liquid, its density as that of a liquid is (the page has 1.46 kg/m^3).
local liquid = material {
    density = 1460,
    viscosity = param("viscosity", 3.6e-3),
    liquid = liquid { surface_tension = 13.6e-3 },
}

local wave = 9.01 * radius -- m, the one that grows fastest without viscosity
local function pace(t)
    return { 0, 0, -speed * (1 + shake * math.sin(2 * math.pi * speed / wave * t)) }
end

return scene {
    name = "stream",
    duration = param("duration", 0.06),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = param("dt", 1e-4) },
    output = { frame = param("frame", 1e-3) },
    remesh = remesh { quality = 0.4, size_min = 0.6 * h, pinch = param("pinch", 1.4) },
    bodies = {
        body {
            name = "liquid",
            shape = shape.cylinder { radius = radius, height = 2 * radius, h = h },
            at = { 0, 0, -2 * radius },
            velocity = { 0, 0, -speed },
            material = liquid,
        },
    },
    through = through {
        inlets = { { where = select.half_space { point = { 0, 0, -1e-8 }, normal = { 0, 0, 1 } }, velocity = pace } },
        outlets = { { point = { 0, 0, -depth }, normal = { 0, 0, -1 } } },
    },
}
