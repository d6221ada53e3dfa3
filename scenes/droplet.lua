-- A drop of water swings (Clausen et al. 2013, appendix A), or falls on a plane that it does not wet.
--
-- case=swing: an ellipsoid of 4, 2 and 2 mm without gravity. Surface tension draws it together, inertia
-- draws it out again, 36 ms later it is what it was. case=fall: a drop of 2 mm at 0.1 m/s that bounces.
-- Nothing but inertia, surface tension and the volume of the water is in it.
--
--   kiln run scenes/droplet.lua -o out/droplet
--   kiln render out/droplet --sheet 4x2 -o droplet.png
--   kiln run scenes/droplet.lua --set case=fall -o out/fall

local falls = param("case", "swing") == "fall"
local water = material {
    density = 997,
    viscosity = param("viscosity", falls and 1e-3 or 0),
    liquid = liquid { surface_tension = 70.38e-3 },
}

return scene {
    name = "droplet",
    duration = param("duration", falls and 0.06 or 0.08),
    gravity = falls and { 0, 0, -9.81 } or { 0, 0, 0 },
    step = { integrator = "bdf2", dt = param("dt", 2.5e-4) },
    output = { frame = 2e-3 },
    bodies = {
        body {
            name = "drop",
            shape = shape.ball { radius = 2e-3, h = param("h", 0.45e-3) },
            scale = falls and { 1, 1, 1 } or { 2, 1, 1 },
            at = { 0, 0, 2.5e-3 },
            velocity = { 0, 0, falls and -param("speed", 0.1) or 0 },
            material = water,
        },
    },
    obstacles = falls and { obstacle.plane { name = "plate" } } or {},
    probes = { probe { name = "drop", body = "drop" } },
}
