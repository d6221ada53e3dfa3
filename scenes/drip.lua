-- A viscous drop hangs from the ceiling and draws out a tendril (Wicke et al. 2010, figure 1).
--
-- Its top sticks to the ceiling; the weight of the rest is more than it can bear, and it flows. Where it flows
-- it hardens, so that the tendril carries the drop for a while. The film ends where the hardened
-- tendril would break: Kiln has no fracture yet.
--
--   kiln run scenes/drip.lua -o out/drip
--   kiln run scenes/drip.lua -o out/drip --set h=0.07   -- smooth: 5,600 to 40,000 tets
--   kiln render out/drip -o drip.mp4 --edges

local radius = 0.4
local h = param("h", 0.16) -- m, edges of the start; all other sizes in proportion

return scene {
    name = "drip",
    duration = param("duration", 1.8),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, linearised = true },
    output = { frame = 0.05, fields = { "mises", "material", "plastic_strain" } },
    bodies = {
        body {
            name = "drop",
            shape = shape.ball { radius = radius, h = h },
            scale = { 1.2, 1.2, 1 },
            at = { 0, 0, -0.8 * radius },
            material = material {
                model = "corotated",
                young = param("young", 3e4),
                poisson = 0.4,
                density = 1000,
                damping_mass = 0.5,
                plastic = plastic { yield = param("yield", 300), rate = param("rate", 20), hardening = param("hardening", 0.01) },
            },
        },
    },
    holds = {
        hold { name = "ceiling",
               where = select.half_space { point = { 0, 0, -0.2 * radius }, normal = { 0, 0, 1 } } },
    },
    remesh = remesh {
        method = "local",
        size_max = 1.25 * h,
        size_min = param("size_min", 0.19 * h),
        curvature = 5 * h,
        strain = 1.6 / h,
        quality = 0.2,
    },
}
