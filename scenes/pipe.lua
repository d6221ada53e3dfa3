-- Liquid runs through a pipe past a sphere (Clausen et al. 2013, fig. 14).
--
-- A pipe of radius 0.1 m and 0.75 m long, 0.02 m/s, a sphere of 0.03 m to which the liquid sticks. Liquid
-- comes in at x = 0, layer by layer, and leaves past x = 0.75; the mesh goes with it, slides along the
-- walls and is mended all the time. Particles show where it goes.
--
--   kiln run scenes/pipe.lua -o out/pipe
--   kiln render out/pipe -o pipe.png
--   kiln run scenes/pipe.lua --set fine=1 --set h=0.016 -o out/pipe-fine   # as fine as the paper's

local h, fine, speed = param("h", 0.04), param("fine", 0), param("speed", 0.02)
local radius, length, sides = 0.1, 0.75, 16
local near = 1e-6

-- The pipe has flat sides, so that holds can be its walls: across them nothing moves.
local holds = {}
for k = 1, sides do
    local a = 2 * math.pi * k / sides
    local normal = { 0, math.cos(a), math.sin(a) }
    holds[k] = hold {
        name = "wall" .. k,
        where = select.half_space { point = { 0, (radius - near) * normal[2], (radius - near) * normal[3] }, normal = normal },
        components = "y",
        turn = { axis = { 1, 0, 0 }, angle = a },
    }
end
holds[sides + 1] = hold {
    name = "sphere",
    where = select.surface {} & select.sphere { centre = { 0.25, 0, 0 }, radius = 0.04 },
}

return scene {
    name = "pipe",
    duration = param("duration", 25),
    step = { integrator = param("integrator", "implicit-euler"), dt = param("dt", 0.1) },
    remesh = remesh { method = "local", space = "world" },
    output = { frame = param("frame", 1), fields = { "velocity" } },
    bodies = {
        body {
            name = "water",
            shape = shape.file { path = "pipe.obj", max_edge = h, refine = fine },
            velocity = { speed, 0, 0 },
            material = material { density = 997, viscosity = param("viscosity", 1e-3), liquid = liquid {} },
        },
    },
    holds = holds,
    tracers = tracers { count = param("particles", 2000), rate = param("rate", 60) },
    through = through {
        inlets = { { where = select.half_space { point = { near, 0, 0 }, normal = { -1, 0, 0 } }, velocity = { speed, 0, 0 } } },
        outlets = { { point = { length, 0, 0 }, normal = { 1, 0, 0 } } },
    },
}
