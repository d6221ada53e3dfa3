-- A water balloon is thrown on a floor, spreads out, and bounces off it, swinging.
--
-- Skin and water are regions of one body and one mesh: the skin is elastic, the water keeps its volume and has no shape
-- of its own. Cells of the water are meshed by their shape in the world, those of the skin by that at rest.
--
--   kiln run scenes/balloon.lua -o out/balloon
--   kiln render out/balloon --color region --sheet 4x2 -o balloon.png

local n = param("n", 6)       -- layers of cells, of which the outermost is the skin
local r = 0.05                -- m
local centre = { 0, 0, 1.02 * r }

return scene {
    name = "balloon",
    duration = param("duration", 0.3),
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 1e-3) },
    output = { frame = 5e-3 },
    obstacles = { obstacle.plane {} },
    bodies = {
        body {
            name = "balloon",
            shape = shape.ball { radius = r, h = 1.08 * r / n },
            at = centre,
            velocity = { 0, 0, -param("speed", 1.5) },
            material = material { name = "skin", density = 1000, young = 5e4, poisson = 0.45 },
            regions = {
                region {
                    where = select.sphere { centre = centre, radius = r * (n - 1) / n },
                    material = material { name = "water", density = 1000, viscosity = 1e-3, liquid = liquid {} },
                },
            },
        },
    },
}
