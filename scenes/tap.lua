-- A tap drips: water comes out of a disk of 4 mm, hangs, necks, breaks, and a drop of some 60 mm^3 falls.
--
-- The inlet is the end of the tap: its rim holds the surface. How large the drop is says the balance of its weight and
-- the tension along the rim, of which a part of about two thirds falls (Harkins and Brown 1919: 60.3 mm^3 where water comes
-- endlessly slowly). What comes while the neck breaks falls with it: the faster the tap, the larger the drop.
--
--   kiln run scenes/tap.lua -o out/tap
--   kiln run scenes/tap.lua --set speed=0.004 --set duration=1.2 -o out/slow
--   kiln render out/tap --look water --camera 90,0 --sheet 6x2 -o tap.png

local radius = param("radius", 2e-3) -- m, of the tap's end
local h = param("h", 5e-4)           -- m, edges at the start
local speed = param("speed", 0.01)   -- m/s, with which water comes

local water = material {
    density = 998,
    viscosity = param("viscosity", 1e-3),
    liquid = liquid { surface_tension = 0.0725 },
}

return scene {
    name = "tap",
    duration = param("duration", 0.54),
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 1e-3) },
    output = { frame = param("frame", 0.01) },
    remesh = remesh { quality = 0.4, size_min = 0.6 * h, pinch = param("pinch", 0.9) },
    bodies = {
        body {
            name = "water",
            shape = shape.cylinder { radius = radius, height = radius, h = h },
            at = { 0, 0, -radius },
            velocity = { 0, 0, -speed },
            material = water,
        },
    },
    through = through {
        inlets = { { where = select.half_space { point = { 0, 0, -1e-7 }, normal = { 0, 0, 1 } },
                     velocity = { 0, 0, -speed } } },
    },
}
