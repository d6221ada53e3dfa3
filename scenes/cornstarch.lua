-- A ball of cornstarch solution bounces first and then flows (Bargteil et al. 2007, fig. 8).
--
-- The flow rate falls with the stress. When the ball strikes the floor the stress is high: it cannot
-- flow and bounces like rubber. When it has come to rest, under nothing but its weight, it flows
-- readily and becomes a puddle.
--
--   kiln run scenes/cornstarch.lua -o out/cornstarch
--   kiln render out/cornstarch -o cornstarch.mp4 --camera=-75,14

local radius = 0.05 -- m
local h = param("h", 0.0083) -- m, edges

return scene {
    name = "cornstarch",
    duration = 2.4,
    gravity = { 0, 0, -9.81 },
    step = {
        integrator = "bdf2",
        dt = 0.005,
        friction_speed = 0.01,
        newton = { tolerance = 1e-4 },
        solver = { backend = "pcg-ic", tolerance = 1e-5 },
    },
    output = { frame = 0.02, fields = { "mises", "velocity", "plastic_strain" } },
    remesh = remesh { method = "local", space = "world", follow = false },
    bodies = {
        body {
            name = "ball",
            shape = shape.ball { radius = radius, h = h },
            at = { 0, 0, 0.2 },
            material = material {
                young = 2e4,
                poisson = 0.4,
                density = 1100,
                nodal_pressure = "on", -- flow keeps volumes: without it, linear tets would lock
                plastic = {
                    yield = 0,
                    rate = function(c) return 150 / (1 + (c.stress / 1500) ^ 4) end,
                },
            },
        },
    },
    obstacles = { obstacle.plane { name = "floor", friction = 0.3 } },
}
