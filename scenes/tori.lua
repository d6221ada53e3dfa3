-- A chain of linked tori, pulled at both ends.
--
-- Each ring hangs in its neighbours. The ends are led apart until the rings are drawn long, and
-- nothing goes through anything.
--
--   kiln run scenes/tori.lua -o out/tori --audit
--   kiln render out/tori -o tori.mp4 --camera=-70,25

local rings = param("rings", 5)
local major, minor = 0.1, 0.025
local pitch = 2 * (major - minor) - 0.01 -- a little slack
local pull = 0.05 * rings

local bodies = {}
for i = 1, rings do
    bodies[i] = body {
        name = "ring" .. i,
        shape = shape.torus { major = major, minor = minor, h = 0.03 },
        turn = i % 2 == 0 and { axis = { 1, 0, 0 }, degrees = 90 } or nil,
        at = { (i - 1) * pitch, 0, 0 },
        material = material { young = 2e5, poisson = 0.4, density = 1000, damping_stiffness = 2e-3 },
    }
end

local function lead(name, body_name, point, normal, sign)
    return hold {
        name = name,
        body = body_name,
        where = select.half_space { point = point, normal = normal },
        motion = motion.translate { shift = function(t) return { sign * pull * math.min(t, 1), 0, 0 } end },
    }
end

local last = (rings - 1) * pitch
return scene {
    name = "tori",
    duration = 1.2,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 0.004, friction = 0.2 },
    output = { frame = 0.02 },
    bodies = bodies,
    holds = {
        lead("left", "ring1", { -major, 0, 0 }, { -1, 0, 0 }, -1),
        lead("right", "ring" .. rings, { last + major, 0, 0 }, { 1, 0, 0 }, 1),
    },
}
