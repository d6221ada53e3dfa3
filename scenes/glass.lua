-- A jelly in a filling glass: liquid comes in through the bottom, rises, and lifts the jelly that floats on it.
--
-- Jelly and liquid push each other by their surfaces (contact), both ways. The glass has twelve flat sides, which are
-- holds along which the liquid slides; its bottom is an inlet. Where liquid closes on itself beside the jelly it
-- becomes one (remesh.merge): thin liquid folds there (viscosity=0.05).
--
--   kiln run scenes/glass.lua -o out/glass
--   kiln render out/glass --color region --sheet 3x2 -o glass.png

local radius, sides, near = 0.04, 12, 1e-7                 -- m, to the middle of a side
local depth, speed = param("depth", 0.03), param("speed", 0.04)
local h = param("h", 0.011)

local corners, holds = {}, {}
for k = 1, sides do
    local a = 2 * math.pi * k / sides
    local out = radius / math.cos(math.pi / sides)
    corners[k] = string.format("%.12f,%.12f", out * math.cos(a - math.pi / sides), out * math.sin(a - math.pi / sides))
    local normal = { math.cos(a), math.sin(a), 0 }
    holds[k] = hold {
        name = "side" .. k,
        body = "syrup",
        where = select.half_space { point = { (radius - near) * normal[1], (radius - near) * normal[2], 0 }, normal = normal },
        components = "x",
        turn = { axis = { 0, 0, 1 }, angle = a },
    }
end

return scene {
    name = "glass",
    duration = param("duration", 1.5),
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 4e-3) },
    remesh = { merge = param("merge", 0.3), size_min = 0.4 * h }, -- creases ask for no more than contact keeps open
    contact = contact { bodies = true, self = true, thickness = 0.1 * h },
    output = { frame = 0.05 },
    bodies = {
        body {
            name = "syrup",
            shape = shape.polygon { points = table.concat(corners, " "), depth = depth, h = h },
            velocity = { 0, 0, speed },
            material = material { density = 1000, viscosity = param("viscosity", 0.2), liquid = liquid {} },
        },
        body {
            name = "jelly",
            shape = shape.ball { radius = 0.016, h = 0.008 },
            at = { 0.004, 0, depth + 0.016 + 0.15 * h },
            velocity = { 0, 0, speed },
            material = material { density = 400, young = 3e3, poisson = 0.4, damping_stiffness = 5e-3 },
        },
    },
    holds = holds,
    through = through {
        inlets = { { where = select.half_space { point = { 0, 0, near }, normal = { 0, 0, -1 } }, velocity = { 0, 0, speed } } },
    },
    probes = { probe { name = "jelly", body = "jelly" } },
}
