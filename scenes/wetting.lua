-- Drops on plates that they wet: each meets its plate at the angle of that.
--
-- Short cylinders of water (thickened, so that they come to rest) are let go on plates with contact angles of 60,
-- 90 and 120 degrees and draw together, or spread, to caps of balls. case=puddle: one large drop under its weight, which is as
-- high as tension bears: 3.8 mm at 90 degrees.
--
--   kiln run scenes/wetting.lua -o out/wetting
--   kiln render out/wetting --sheet 3x2 -o wetting.png
--   kiln run scenes/wetting.lua --set case=puddle -o out/puddle

local puddle = param("case", "drops") == "puddle"
local water = material {
    density = 997,
    viscosity = param("viscosity", puddle and 0.5 or 0.05),
    liquid = liquid { surface_tension = 70.38e-3 },
}

local angles = puddle and { param("angle", 90) } or { 60, 90, 120 }
local bodies, plates = {}, {}
for i, angle in ipairs(angles) do
    local x, r = 6e-3 * (i - 1), puddle and 16e-3 or 1.2e-3
    bodies[i] = body {
        name = "drop" .. i,
        shape = shape.cylinder { radius = r, height = puddle and 5e-3 or r, h = puddle and 1.8e-3 or 0.22e-3 },
        at = { x, 0, 0 },
        material = water,
    }
    local half = puddle and 50e-3 or 2.8e-3
    plates[i] = obstacle.box { name = "plate" .. i, from = { x - half, -half, -1e-3 }, to = { x + half, half, 0 },
                               contact_angle = angle }
end

return scene {
    name = "wetting",
    duration = param("duration", puddle and 0.6 or 0.06),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = puddle and 2e-3 or 2e-4 },
    output = { frame = puddle and 0.02 or 2e-3 },
    bodies = bodies,
    obstacles = plates,
}
