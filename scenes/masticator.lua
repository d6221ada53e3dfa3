-- A bar chewed between metal teeth (Wicke et al. 2010, figure 2).
--
-- Two jaws of rounded teeth close on the bar, open, and close again; then the bar is left alone.
--   elastic   (a) refined where the teeth bend it, coarse again when it is free
--   coarse    (b) the same without remeshing: it cannot follow the teeth
--   plastic   (c) keeps the marks of the teeth
--
--   kiln run scenes/masticator.lua -o out/masticator --set case=plastic
--   kiln render out/masticator -o masticator.mp4 --edges

local case = param("case", "elastic")
local n = param("n", 3) -- tets across the bar
local length, width = 6, 1
local radius, gap = 0.25, 1.2 -- of the teeth; between neighbours of a jaw
local period, bites = 4, param("bites", 1)
local depth = param("depth", 0.55) -- how far each jaw comes in

-- From 0 to 1 and back in every period, at rest at both ends.
local function bite(t)
    if t > bites * period then return 0 end
    return 0.5 - 0.5 * math.cos(2 * math.pi * t / period)
end

local function jaw(first, side)
    local teeth = {}
    for i = 0, 3 do
        local x = first + i * gap
        local z = width / 2 + side * (width / 2 + radius + 0.05)
        teeth[#teeth + 1] = obstacle.capsule {
            from = { x, -0.3 * width, z },
            to = { x, 1.3 * width, z },
            radius = radius,
            friction = 0.3,
            motion = motion.translate { shift = function(t) return { 0, 0, -side * depth * bite(t) } end },
        }
    end
    return teeth
end

local obstacles = {}
for _, tooth in ipairs(jaw(1.2, 1)) do obstacles[#obstacles + 1] = tooth end
for _, tooth in ipairs(jaw(0.6, -1)) do obstacles[#obstacles + 1] = tooth end

return scene {
    name = "masticator-" .. case,
    duration = param("duration", bites * period + 3),
    gravity = { 0, 0, 0 },
    step = { integrator = "implicit-euler", dt = 0.02, newton = { tolerance = 1e-4 } },
    output = { frame = 0.1, fields = { "mises", "material" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = length, ly = width, lz = width, n = n, pattern = "mirrored" },
            material = material {
                model = param("model", "corotated"),
                young = 1e5,
                poisson = 0.3,
                density = 1000,
                damping_mass = 2,
                plastic = case == "plastic" and plastic { yield = 8e3, rate = 2 } or nil,
            },
        },
    },
    obstacles = obstacles,
    remesh = remesh {
        method = case == "coarse" and "none" or "local",
        deformation = param("deformation", 0.6),
        strain = param("strain", 60),
        size_min = param("size_min", 0.06),
    },
}
