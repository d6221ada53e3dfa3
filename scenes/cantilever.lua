-- A beam, clamped at one end, let go under its own weight.
--
-- It swings about the shape it would rest in and comes to it slowly. `--field mises` shows where it
-- is strained: at the clamp, along the top and the bottom.
--
--   kiln run scenes/cantilever.lua -o out/cantilever
--   kiln render out/cantilever -o cantilever.mp4 --field mises --smooth

return scene {
    name = "cantilever",
    duration = 1.5,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "newmark", dt = 0.01 },
    output = { frame = 0.02, fields = { "mises", "stress", "velocity", "material" } },
    bodies = {
        body {
            name = "beam",
            shape = shape.box { lx = 2, ly = 0.25, lz = 0.25, n = 4, nx = 32 },
            material = material {
                young = 5e6,
                poisson = 0.4,
                density = 1000,
                damping_stiffness = 4e-3,
            },
        },
    },
    holds = {
        hold { name = "clamp", where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } },
    },
}
