-- Honey runs from a nozzle on a plate and lies down in coils (liquid rope coiling; Ribe, Habibi and Bonn 2012).
--
-- The rope comes in at the top, becomes thinner while it falls, and folds where it arrives: it lies on the plate, then
-- on itself, since liquid keeps out of itself (contact). Nothing merges: coils stay coils and flow apart slowly.
-- case=buckle: a column without inlet, too high to stand, folds under its weight. case=spread: a short cylinder spreads
-- on a plate it sticks to, as a gravity current (Huppert 1982).
--
--   kiln run scenes/honey.lua -o out/honey
--   kiln render out/honey --look honey --sheet 4x2 -o honey.png
--   kiln run scenes/honey.lua --set case=buckle -o out/buckle
--   kiln run scenes/honey.lua --set case=spread -o out/spread

local case = param("case", "coil")
local coil, spread = case == "coil", case == "spread"
local radius = param("radius", coil and 3e-3 or spread and 20e-3 or 4e-3)
local height = param("height", coil and 60e-3 or spread and 20e-3 or 60e-3)
local speed = param("speed", 0.08) -- at the nozzle, m/s
local h = param("h", coil and 2e-3 or spread and 4e-3 or 2e-3)

return scene {
    name = "honey",
    duration = param("duration", coil and 3.2 or spread and 4 or 1.2),
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 5e-3) },
    remesh = remesh { space = "world", quality = 0.4, size_min = 0.8 * h, most_tets = 60000 }, -- honey comes in
    contact = contact { bodies = true, self = true, friction = param("friction", 0) },
    output = { frame = param("frame", 0.05), fields = { "velocity" } },
    bodies = {
        body {
            name = "honey",
            shape = shape.cylinder { radius = radius, height = height - (coil and 2e-3 or 0),
                                     h = h },
            at = { 0, 0, coil and 2e-3 or 0 },
            velocity = coil and { 0, 0, -speed } or { 0, 0, 0 },
            material = material {
                density = 1400,
                viscosity = param("viscosity", coil and 100 or 50),
                liquid = liquid { surface_tension = 0.08 },
            },
        },
    },
    obstacles = { obstacle.plane { name = "plate", contact_angle = 60, no_slip = true } },
    through = coil and through {
        inlets = { { where = select.half_space { point = { 0, 0, height - 1e-6 }, normal = { 0, 0, 1 } },
                     velocity = { 0, 0, -speed } } },
    } or nil,
    probes = { probe { name = "honey", body = "honey" } },
}
