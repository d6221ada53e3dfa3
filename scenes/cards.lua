-- A card house of two storeys, standing by friction alone.
--
-- Cards are boxes of 2 mm that lean on each other by pairs; a card lies on the tops of two pairs and
-- carries the next. With `friction` = 0.1 it comes down.
--
--   kiln run scenes/cards.lua -o out/cards --audit
--   kiln render out/cards -o cards.mp4 --camera=-70,15

local friction = param("friction", 0.6)
local height, width, thick = 0.09, 0.06, 0.002
local lean = math.rad(param("lean", 20)) -- from upright
local layer = 0.0006
local c, s = math.cos(lean), math.sin(lean)
local card_stuff = material { young = 1e8, poisson = 0.3, density = 800, damping_stiffness = 1e-3 }

local bodies = {}

-- A box from `at`, turned about y: its own z leans to +x by the angle.
local function card(name, long, at, angle)
    bodies[#bodies + 1] = body {
        name = name,
        shape = shape.box { lx = thick, ly = width, lz = long, nx = 1, ny = 2, nz = 4 },
        turn = angle ~= 0 and { axis = { 0, 1, 0 }, degrees = math.deg(angle) } or nil,
        at = at,
        material = card_stuff,
    }
end

-- Two cards that lean on each other with their upper inner edges at x; their lower corners at z.
local function pair(name, x, z)
    local gap = 0.9 * layer
    local foot = x - gap / 2 - height * s - thick * c -- of the left card: it leans to +x
    card(name .. "l", height, { foot, -width / 2, z + thick * s }, lean)
    -- The right one mirrored: its corner (0, 0) is its upper side's foot.
    card(name .. "r", height, { x + gap / 2 + height * s, -width / 2, z }, -lean)
end

local top = height * c + thick * s -- of a pair
local apart = 2 * (height * s + thick * c) + 0.004
pair("a", -apart / 2, 0)
pair("b", apart / 2, 0)
local roof = apart + 0.05
bodies[#bodies + 1] = body {
    name = "roof",
    shape = shape.box { lx = roof, ly = width, lz = thick, nx = 8, ny = 2, nz = 1 },
    at = { -roof / 2, -width / 2, top + layer },
    material = card_stuff,
}
pair("c", 0, top + thick + 2 * layer)

return scene {
    name = "cards",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.005, friction_speed = 1e-4, newton = { tolerance = 1e-6 } },
    contact = contact { thickness = layer, friction = friction },
    output = { frame = 0.02 },
    bodies = bodies,
    obstacles = { obstacle.plane { name = "table", friction = friction } },
}
