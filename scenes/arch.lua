-- An arch of nine stones, held by nothing but their weight and friction.
--
-- The stones are the parts of a half ring, apart by their layer; the outer two stand on the floor.
-- With friction 0.5 the arch stands; with `friction` = 0.1 it spreads and falls.
--
--   kiln run scenes/arch.lua -o out/arch --audit
--   kiln render out/arch -o arch.mp4 --camera=-70,15

local friction = param("friction", 0.5)
local stones, inner, outer, depth = 9, 0.5, 0.75, 0.25
local layer = 0.002
local stone = material { young = 5e7, poisson = 0.2, density = 2000, damping_stiffness = 1e-4 }

-- In the plane x, z; gaps are `layer` wide everywhere.
local function corner(radius, angle, aside)
    return string.format("%.9f,%.9f", radius * math.cos(angle) - aside * math.sin(angle),
                         radius * math.sin(angle) + aside * math.cos(angle))
end

local bodies = {}
for i = 1, stones do
    local from, to = (i - 1) * math.pi / stones, i * math.pi / stones
    local half = 0.475 * layer
    local first, last = i == 1 and 0 or half, i == stones and 0 or half
    bodies[i] = body {
        name = "stone" .. i,
        shape = shape.polygon {
            points = corner(inner, from, first) .. " " .. corner(outer, from, first) .. " " ..
                     corner(outer, to, -last) .. " " .. corner(inner, to, -last),
            depth = depth, h = 0.13,
        },
        turn = { axis = { 1, 0, 0 }, degrees = 90 },
        at = { 0, depth / 2, 0 },
        material = stone,
    }
end

return scene {
    name = "arch",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, friction_speed = 1e-4, newton = { tolerance = 1e-6 } },
    contact = contact { thickness = layer, friction = friction },
    output = { frame = 0.02 },
    bodies = bodies,
    obstacles = { obstacle.plane { name = "floor", friction = friction } },
}
