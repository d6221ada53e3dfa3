-- Dozens of lumps of dough fall into a box and become one (VPF fig. 6).
--
-- Balls, rings and stars of about 4200 tets each. Lumps that come near enough to each other are one
-- part after the next whole-domain remesh; what flowed too far gets new tets by the same remesh.
-- Until then contact keeps them apart, so that what becomes one has the volume of what it is made of.
--
--   kiln run scenes/merge.lua -o out/merge
--   kiln run scenes/merge.lua -o out/merge --set count=4     -- a short one
--   kiln run scenes/merge.lua -o out/merge --set norm=mises  -- one that comes to rest
--   kiln render out/merge -o merge.mp4

local count = param("count", 48)
local h = param("h", 0.0183) -- of a ball; the others in proportion
local duration = param("duration", 1.2)

-- In VPF's norm, frobenius, pressure counts as shear does: under its own weight dough more than 5 cm
-- deep creeps until it is level. In the norm mises a heap rests once shear is below the yield stress.
local dough = material {
    young = 3e4,
    poisson = 0.4,
    density = 1000,
    damping_stiffness = 0.002,
    plastic = plastic {
        norm = param("norm", "frobenius"),
        yield = param("yield", 800),
        rate = 40,
    },
}

local function star()
    local points = {}
    for i = 0, 9 do
        local r, a = i % 2 == 0 and 0.13 or 0.062, math.pi * i / 5
        points[#points + 1] = string.format("%.6f,%.6f", r * math.cos(a), r * math.sin(a))
    end
    return shape.polygon { points = table.concat(points, " "), depth = 0.07, h = 0.83 * h }
end

local kinds = {
    function() return shape.ball { radius = 0.1, h = h } end,
    function() return shape.torus { major = 0.085, minor = 0.042, h = 0.88 * h } end,
    star,
}

-- In layers of three by three, turned this way and that.
local bodies = {}
for i = 0, count - 1 do
    local layer, place = i // 9, i % 9
    local odd = layer % 2
    bodies[#bodies + 1] = body {
        name = "lump" .. (i + 1),
        shape = kinds[(i + i // 3 + 2 * layer) % 3 + 1](),
        -- One patch: the sides of a star have tags of their own, and rims of patches stay for ever.
        patches = { patch { tag = 1 } },
        turn = { axis = { math.sin(i), math.cos(2 * i), math.sin(3 * i + 1) }, angle = 40 * i },
        at = {
            0.29 * (place % 3 - 1) + 0.02 * math.sin(5 * i) + 0.02 * odd,
            0.29 * (place // 3 - 1) + 0.02 * math.cos(3 * i) - 0.02 * odd,
            0.17 + 0.3 * layer,
        },
        velocity = { 0, 0, -0.5 },
        material = dough,
    }
end

return scene {
    name = "merge",
    duration = duration,
    gravity = { 0, 0, -9.81 },
    step = {
        dt = 0.004,
        friction_speed = 0.01,
        newton = { tolerance = 1e-4 },
        -- Steps are short against the time that sound takes through a lump: few iterations do,
        -- the fewer as Newton's tolerance decides, not that of each of its systems.
        solver = { backend = "pcg-jacobi", tolerance = 1e-3 },
    },
    contact = true,
    remesh = remesh { method = "global", quality = param("quality", 0.2) },
    output = { frame = 0.04, obstacles = false, fields = { "velocity", "plastic_strain" } },
    bodies = bodies,
    obstacles = {
        obstacle.box {
            name = "box",
            inside_out = true,
            friction = 0.5,
            from = { -0.5, -0.5, 0 },
            to = { 0.5, 0.5, 9 },
        },
    },
}
