-- Soft bodies fall into a bowl and come to rest on each other.
--
-- The bodies push each other aside through `contact`: no surface ever passes through another one,
-- or through itself. The bowl is an obstacle, so what lies in it is held by it and pressed by its
-- neighbours at the same time.
--
--   kiln run scenes/pile.lua -o out/pile
--   kiln render out/pile -o pile.mp4 --camera=-60,35

local function jelly(young)
    return material { young = young, poisson = 0.4, density = 1000, damping_stiffness = 2e-3 }
end

return scene {
    name = "pile",
    duration = 1.5,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 0.006, friction = 0.2 },
    output = { frame = 0.02 },
    bodies = {
        body {
            name = "ball",
            shape = shape.ball { radius = 0.16, h = 0.08 },
            at = { 0.05, 0.02, 0.1 },
            material = jelly(4e4),
        },
        body {
            name = "ring",
            shape = shape.torus { major = 0.19, minor = 0.075, h = 0.06 },
            turn = { axis = { 1, 0.2, 0 }, degrees = 25 },
            at = { -0.02, 0, 0.5 },
            material = jelly(5e4),
        },
        body {
            name = "block",
            shape = shape.box { lx = 0.24, ly = 0.24, lz = 0.24, n = 3 },
            turn = { axis = { 1, 0.4, 0.2 }, degrees = 40 },
            at = { -0.1, -0.2, 0.75 },
            material = jelly(8e4),
        },
        body {
            name = "drum",
            shape = shape.cylinder { radius = 0.12, height = 0.24, h = 0.08 },
            turn = { axis = { 0.3, 1, 0 }, degrees = 70 },
            at = { -0.05, 0.1, 1.15 },
            material = jelly(5e4),
        },
        body {
            name = "top",
            shape = shape.ball { radius = 0.15, h = 0.08 },
            at = { 0.12, -0.05, 1.55 },
            material = jelly(3e4),
        },
    },
    obstacles = {
        obstacle.mesh {
            name = "bowl",
            shape = shape.bowl { radius = 0.55, thickness = 0.06, h = 0.05 },
        },
    },
}
