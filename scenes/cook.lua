-- Cook's membrane: a tapered panel, clamped at its left side, is pulled up at its right one.
--
-- What bends it is at the corners of the clamp, and a coarse mesh is too stiff there. Judged by
-- energy it is fine at these corners and coarse elsewhere.
--   energy   from the coarse mesh, split where the energy falls by it
--   coarse   that mesh as it is
--   fine     a uniform one of many more vertices
--
--   kiln run scenes/cook.lua -o out/cook
--   kiln render out/cook -o cook.png --edges --field mises --smooth --up y --camera=-90,20
--   tail -1 out/cook/probes.csv      the rise of the upper right corner, m

local case = param("case", "energy")
local thick = 0.016

return scene {
    name = "cook-" .. case,
    duration = 1,
    step = { integrator = "static" },
    remesh = remesh { method = case == "energy" and "energy" or "none", split = param("split", 2e-6) },
    output = { frame = 1, fields = { "mises" } },
    bodies = {
        body {
            name = "panel",
            shape = shape.polygon {
                points = "0,0 0.048,0.044 0.048,0.060 0,0.044",
                depth = thick,
                h = param("h", case == "fine" and 0.0025 or 0.012),
            },
            material = material { model = "neo-hookean-split", young = 1.0985e6, poisson = 0.3, density = 1000 },
        },
    },
    holds = { hold { name = "clamp", where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } } },
    loads = {
        load.traction {
            where = select.half_space { point = { 0.048 - 1e-6, 0, 0 }, normal = { 1, 0, 0 } },
            amount = { 0, 62500, 0 },
        },
    },
    probes = { probe { name = "corner", point = { 0.048, 0.060, thick / 2 } } },
}
