-- Five bodies fall on a floor and bounce.
--
-- From left to right: a soft ball, a firm block that lands on its edge, a tumbling ring, a drum and
-- a bowl. All weigh as much as water; the softest is like jelly, the firmest like a tyre. Newmark
-- keeps the energy; a little damping lets the bodies come to rest.
--
--   kiln run scenes/bounce.lua -o out/bounce
--   kiln render out/bounce -o bounce.mp4 --camera=-80,14

local function rubber(young)
    return material { young = young, poisson = 0.4, density = 1000, damping_stiffness = 1e-3 }
end

return scene {
    name = "bounce",
    duration = 1.2,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "newmark", dt = 0.005, newton = { tolerance = 1e-4 } },
    output = { frame = 0.02 },
    bodies = {
        body {
            name = "ball",
            shape = shape.ball { radius = 0.25, h = 0.085 },
            at = { -1.3, 0, 0.7 },
            material = rubber(8e4),
        },
        body {
            name = "block",
            shape = shape.box { lx = 0.36, ly = 0.36, lz = 0.36, n = 4 },
            turn = { axis = { 1, 0.1, 0 }, degrees = 38 },
            at = { -0.85, 0, 0.65 },
            material = rubber(4e5),
        },
        body {
            name = "ring",
            shape = shape.torus { major = 0.24, minor = 0.09, h = 0.055 },
            turn = { axis = { 0.3, 1, 0 }, degrees = 62 },
            at = { 0, 0, 0.75 },
            spin = { 0, 4, 0 },
            material = rubber(2e5),
        },
        body {
            name = "drum",
            shape = shape.cylinder { radius = 0.19, height = 0.36, h = 0.08 },
            turn = { axis = { 1, 0.15, 0 }, degrees = -60 },
            at = { 0.65, 0, 0.65 },
            material = rubber(2e5),
        },
        body {
            name = "bowl",
            shape = shape.bowl { radius = 0.26, thickness = 0.08, h = 0.075 },
            turn = { axis = { 1, 0, 0 }, degrees = 35 },
            at = { 1.3, 0, 0.75 },
            material = rubber(3e5),
        },
    },
    obstacles = { obstacle.plane { name = "floor", friction = 0.3 } },
}
