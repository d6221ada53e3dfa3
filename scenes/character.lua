-- A marshmallow man stands among blocks and posts, and melts (after Bargteil et al. 2007, fig. 2).
--
-- For most of a second he is elastic and wobbles from a shove. Then his material changes: the yield falls to
-- almost nothing, and he sinks, hangs over what stands around him and flows on the ground.
--
--   kiln run scenes/character.lua -o out/character
--   kiln run scenes/character.lua -o out/men --set men=3 --set h=0.059   -- three of 33,000 tets
--   kiln render out/character -o character.mp4 --camera=-80,12
--
-- With `--set h=0.09` it takes a tenth of the time.

local h = param("h", 0.041) -- m, edges: 100,000 tets
local melts = param("melts", 0.8) -- s

local limbs = {
    "0,0,0.72,0.4 0,0,1.12,0.31", -- trunk
    "0,0,1.6,0.29", -- head
    "0,0,1.86,0.1 0,0.02,1.95,0.09", -- knob of the hat
    "0,-0.29,1.58,0.07", -- nose
}
for _, side in ipairs { -1, 1 } do
    local function limb(...)
        local balls = {}
        for i, ball in ipairs { ... } do
            balls[i] = string.format("%g,%g,%g,%g", side * ball[1], ball[2], ball[3], ball[4])
        end
        limbs[#limbs + 1] = table.concat(balls, " ")
    end
    limb({ 0.2, 0, 0.55, 0.22 }, { 0.27, 0, 0.2, 0.19 }) -- leg
    limb({ 0.28, 0.12, 0.14, 0.14 }, { 0.3, -0.22, 0.13, 0.14 }) -- foot
    limb({ 0.28, 0, 1.2, 0.17 }, { 0.6, -0.04, 1.12, 0.14 }, { 0.88, -0.1, 1.28, 0.14 }) -- arm
    limb { 0.92, -0.12, 1.34, 0.18 } -- hand
end

local function molten(t) -- from 0 to 1 within half a second
    return math.max(0, math.min(1, (t - melts) / 0.5))
end

local men = param("men", 1)
local bodies, obstacles = {}, { obstacle.plane { name = "ground", friction = 0.6 } }
for i = 0, men - 1 do
    local x = 2.5 * i -- m, along the row
    local mark = i > 0 and tostring(i + 1) or ""
    bodies[#bodies + 1] = body {
        name = "man" .. mark,
        shape = shape.figure { limbs = table.concat(limbs, "; "), blend = 0.07, h = h },
        at = { x, 0, 0.015 },
        turn = { axis = { 0, 0, 1 }, degrees = 25 * i },
        velocity = function(u) return { 0.3 * u.z, 0, 0 } end,
        material = material {
            young = 1e5,
            poisson = 0.4,
            density = 200,
            plastic = {
                yield = function(c) return 2e4 + (200 - 2e4) * molten(c.t) end,
                rate = function(c) return 40 * molten(c.t) end,
            },
        },
    }
    local function put(kind, name, values)
        values.name, values.friction = name .. mark, 0.4
        obstacles[#obstacles + 1] = obstacle[kind](values)
    end
    put("box", "block", { from = { x + 0.62, -0.4, 0 }, to = { x + 1.15, 0.2, 0.5 } })
    put("cylinder", "post", { from = { x - 0.75, -0.05, 0 }, to = { x - 0.75, -0.05, 0.8 }, radius = 0.13 })
    put("sphere", "stone", { centre = { x - 0.1, -0.75, 0.2 }, radius = 0.2 })
end

return scene {
    name = "character",
    duration = param("duration", 4),
    gravity = { 0, 0, -9.81 },
    step = {
        integrator = "bdf2",
        dt = 0.0125,
        friction_speed = 0.02,
        newton = { tolerance = 1e-4 },
        solver = { backend = "pcg-ic", tolerance = 1e-5 },
    },
    output = { frame = 0.05, fields = { "mises", "velocity", "plastic_strain" } },
    contact = { friction = 0.3 },
    remesh = remesh { method = "local", space = "world", follow = false },
    bodies = bodies,
    obstacles = obstacles,
}
