-- A hundred bodies fall into a bowl.
--
-- Balls, blocks, rings and drums, soft and firm, on a spiral above it; the bowl is a mesh, and an
-- obstacle like any other. `count` = 20 takes a few seconds.
--
--   kiln run scenes/bowl.lua -o out/bowl --audit
--   kiln render out/bowl -o bowl.mp4 --camera=-60,35

local count = param("count", 100)
local shapes = {
    shape.ball { radius = 0.06, h = 0.06 },
    shape.box { lx = 0.1, ly = 0.1, lz = 0.1, n = 1 },
    shape.torus { major = 0.055, minor = 0.022, h = 0.04 },
    shape.cylinder { radius = 0.05, height = 0.1, h = 0.07 },
}

local bodies = {}
for i = 1, count do
    local storey, place = (i - 1) // 8, (i - 1) % 8
    local angle = place * math.pi / 4 + 0.3 * storey
    local radius = place % 2 == 0 and 0.34 or 0.19
    bodies[i] = body {
        name = "body" .. i,
        shape = shapes[(i - 1) % 4 + 1],
        turn = { axis = { math.cos(i), math.sin(i), 0.3 }, degrees = 37 * i % 360 },
        at = { radius * math.cos(angle), radius * math.sin(angle), 0.05 + 0.22 * storey },
        velocity = { 0, 0, -1 },
        material = material { young = i % 3 == 0 and 4e5 or 1e5, poisson = 0.35, density = 1000,
                              damping_stiffness = 2e-3 },
    }
end

return scene {
    name = "bowl",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, friction_speed = 1e-3, newton = { tolerance = 1e-4 } },
    contact = contact { thickness = 0.005, friction = 0.2 },
    output = { frame = 0.02 },
    bodies = bodies,
    obstacles = {
        obstacle.mesh {
            name = "bowl",
            shape = shape.bowl { radius = 0.6, thickness = 0.06, h = 0.06 },
            friction = 0.2,
        },
    },
}
