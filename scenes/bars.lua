-- Bars that are twisted by one full turn and let go (Wicke et al. 2010, figure 6).
--
-- The lower end is held, the upper one is turned once in four seconds; then both are released. What
-- comes back depends on what the bar is made of:
--   elastic   (a, b) comes back exactly, and its mesh becomes coarse again
--   low, medium, high (c, d, e) flow more and more and keep the twist
--   world     (f) the elastic bar again, but meshed in the world: its rest shape is resampled with
--             every change of the mesh, and does not survive
--   two       (g) the upper half elastic, the lower highly plastic, in one mesh
--
--   kiln run scenes/bars.lua -o out/bars --set case=medium
--   kiln render out/bars -o bars.mp4 --edges

local case = param("case", "elastic")
local height, width, turn_time = 4, 1, 4

local plasticity = { low = 0.3, medium = 1.5, high = 8 } -- 1/s
local size = { low = 0.35, medium = 0.3, high = 0.3, two = 0.3 } -- m in the world; others 0.7

local function stuff(rate)
    return material {
        model = "corotated",
        young = 1e5,
        poisson = 0.3,
        density = 100,
        damping_stiffness = 0.02,
        plastic = rate and plastic { yield = param("yield", 1.5e4), rate = rate } or nil,
    }
end

local elastic = stuff()
local body_material = stuff(plasticity[case == "two" and "high" or case])

return scene {
    name = "bars-" .. case,
    duration = param("duration", 10),
    gravity = { 0, 0, 0 },
    step = { integrator = "implicit-euler", dt = 0.02, linearised = true },
    output = { frame = 0.2, fields = { "mises", "material" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = width, ly = width, lz = height, nx = 2, ny = 2, nz = 9 },
            at = { -width / 2, -width / 2, 0 },
            material = body_material,
            regions = case == "two" and {
                region { where = select.half_space { point = { 0, 0, 5 / 9 * height }, normal = { 0, 0, 1 } },
                         material = elastic },
            } or nil,
        },
    },
    holds = {
        hold { name = "foot", where = select.half_space { point = { 0, 0, 1e-6 }, normal = { 0, 0, -1 } },
               till = turn_time },
        hold {
            name = "head",
            where = select.half_space { point = { 0, 0, height - 1e-6 }, normal = { 0, 0, 1 } },
            motion = motion.rotate {
                axis = { 0, 0, 1 },
                angle = function(t) return 2 * math.pi * math.min(1, t / turn_time) end,
            },
            till = turn_time,
        },
    },
    remesh = remesh {
        method = "local",
        space = case == "world" and "world" or "material",
        deformation = param("deformation", size[case] or 0.7),
        strain = param("strain", 45),
        size_min = 0.1,
        quality = 0.17,
    },
}
