-- A rubber ball hits a wall at 67 m/s.
--
-- It is pressed to a disc twice as wide, and flies back. What its vibration has left is damped a
-- little: `kiln plot` shows where the energy goes. case=energy begins on a coarser mesh and splits
-- where the energy of the step falls by it (Ferguson et al. 2023, the impacting ball).
--
--   kiln run scenes/impact.lua -o out/impact --audit
--   kiln render out/impact -o impact.mp4 --field speed --smooth --camera=-115,12

local radius, speed = 0.02, param("speed", 67)
local by_energy = param("case", "fixed") == "energy"

return scene {
    name = "impact",
    duration = 0.2 / speed,
    step = { integrator = "bdf2", dt = 2e-5 * 67 / speed },
    remesh = remesh { method = by_energy and "energy" or "none", split = param("split", 2.5e-5) },
    output = { frame = 0.004 / speed, fields = { "velocity", "mises", "contact" } },
    bodies = {
        body {
            name = "ball",
            shape = shape.ball { radius = radius, h = param("h", by_energy and 0.006 or 0.003) },
            at = { -1.05 * radius, 0, 0 },
            velocity = { speed, 0, 0 },
            material = material { model = "neo-hookean", young = 1e6, poisson = 0.45, density = 1150, damping_stiffness = 2e-5 },
        },
    },
    obstacles = { obstacle.plane { name = "wall", point = { 0, 0, 0 }, normal = { -1, 0, 0 } } },
    probes = { probe { name = "ball", body = "ball" } },
}
