-- A hundred bodies fall into a bowl.
--
-- Balls, blocks, rings and drums, soft and firm, in storeys of twenty above it; the bowl is a mesh, and an
-- obstacle like any other. The whole takes a minute of CPU, `count` = 20 a few seconds.
--
--   kiln run scenes/bowl.lua -o out/bowl --audit
--   kiln render out/bowl -o bowl.mp4 --camera=-60,35

local count = param("count", 100)
local shapes = { -- and how far up their z axis the middle is
    { shape.ball { radius = 0.06, h = 0.06 }, 0 },
    { shape.polygon { points = "-0.045,-0.045 0.045,-0.045 0.045,0.045 -0.045,0.045", depth = 0.09, h = 0.09 }, 0.045 },
    { shape.torus { major = 0.055, minor = 0.024, h = 0.05 }, 0 },
    { shape.cylinder { radius = 0.045, height = 0.1, h = 0.07 }, 0.05 },
}

-- Bodies lie with their axes this way.
local function axis(i)
    return { math.sin(i) * math.cos(2 * i), math.sin(i) * math.sin(2 * i), math.cos(i) }
end

local bodies = {}
for i = 1, count do
    local storey, place = (i - 1) // 20, (i - 1) % 20
    local x, y = 0.19 * (place % 5 - 2), 0.19 * (place // 5 - 1.5)
    local kind, z = shapes[(i - 1) % 4 + 1], axis(i)
    bodies[i] = body {
        name = "body" .. i,
        shape = kind[1],
        turn = { axis = { -math.sin(2 * i), math.cos(2 * i), 0 }, degrees = math.deg(i) % 360 },
        at = { x - kind[2] * z[1], y - kind[2] * z[2], 0.05 + 0.17 * storey - kind[2] * z[3] },
        velocity = { 0, 0, -1 },
        material = material { young = i % 3 == 0 and 4e5 or 1e5, poisson = 0.35, density = 1000,
                              damping_stiffness = 2e-3 },
    }
end

return scene {
    name = "bowl",
    duration = 0.8,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.02, friction_speed = 1e-2, newton = { tolerance = 1e-4 } },
    contact = contact { thickness = 0.006, friction = 0.2 },
    output = { frame = 0.02 },
    bodies = bodies,
    obstacles = {
        obstacle.mesh {
            name = "bowl",
            shape = shape.bowl { radius = 0.75, thickness = 0.06, h = 0.08 },
            friction = 0.2,
        },
    },
}
