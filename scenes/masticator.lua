-- A bar chewed between metal teeth (Wicke et al. 2010, figure 2).
--
-- Two jaws of round teeth, each tooth over a gap of the other jaw, close on the bar and open again;
-- then the bar is left alone.
--   elastic   (a) refined where the teeth bend it, coarse again when it is free
--   coarse    (b) the same without remeshing: it cannot follow the teeth
--   plastic   (c) keeps the marks of the teeth
--
--   kiln run scenes/masticator.lua -o out/masticator --set case=plastic
--   kiln render out/masticator -o masticator.mp4 --edges

local case = param("case", "elastic")
local n = param("n", 2) -- tets across the bar
local length, width, height = 8, 1, 0.6
local radius, gap = 0.4, 2.4 -- of the teeth; between neighbours of a jaw
local period, bites = 4, param("bites", 1)
local clear = 0.2 -- between bar and open jaws
local depth = param("depth", 0.88) -- how far each jaw comes in

-- From 0 to 1 and back in every period, at rest at both ends.
local function bite(t)
    if t > bites * period then return 0 end
    return 0.5 - 0.5 * math.cos(2 * math.pi * t / period)
end

local function jaw(first, count, side)
    local teeth = {}
    for i = 0, count - 1 do
        local x = first + i * gap
        local z = height / 2 + side * (height / 2 + radius + clear)
        teeth[#teeth + 1] = obstacle.capsule {
            from = { x, -0.3 * width, z },
            to = { x, 1.3 * width, z },
            radius = radius,
            friction = 0.2,
            motion = motion.translate { shift = function(t) return { 0, 0, -side * depth * bite(t) } end },
        }
    end
    return teeth
end

local obstacles = {}
for _, tooth in ipairs(jaw(length / 2 - gap, 3, 1)) do obstacles[#obstacles + 1] = tooth end
for _, tooth in ipairs(jaw(length / 2 - gap / 2, 2, -1)) do obstacles[#obstacles + 1] = tooth end

return scene {
    name = "masticator-" .. case,
    duration = param("duration", bites * period + 1.5),
    gravity = { 0, 0, 0 },
    step = {
        integrator = "implicit-euler",
        dt = 0.02,
        friction_speed = 0.01, -- the teeth move at up to 0.7 m/s
        newton = { tolerance = 1e-4 },
    },
    output = { frame = 0.1, fields = { "mises", "material" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = length, ly = width, lz = height, n = n, pattern = "mirrored" },
            material = material {
                model = "corotated",
                young = 2e6,
                poisson = 0.3,
                density = 1000,
                damping_mass = 4,
                plastic = case == "plastic" and plastic { yield = 1.6e5, rate = 2 } or nil,
            },
        },
    },
    obstacles = obstacles,
    remesh = remesh {
        method = case == "coarse" and "none" or "local",
        deformation = 0.45,
        strain = param("strain", 150),
        chord = param("chord", 0.02),
        size_min = 0.05,
        quality = 0.2,
    },
}
