-- A star of dough falls on the floor (Bargteil et al. 2007, fig. 7).
--
-- It lands on two of its arms. They flatten, the other three droop, and the star sags into itself
-- while dough goes on flowing wherever the stress passes its yield.
--
--   kiln run scenes/dough.lua -o out/dough
--   kiln render out/dough -o dough.mp4 --camera=-75,12

local h = param("h", 0.011) -- m, edges
local arms = {}
for i = 0, 4 do
    local angle = math.rad(90 + 72 * i)
    local c, s = math.cos(angle), math.sin(angle)
    arms[#arms + 1] = string.format("0,0,0,0.03 %.6f,0,%.6f,0.017", 0.085 * c, 0.085 * s)
end

return scene {
    name = "dough",
    duration = 0.8,
    gravity = { 0, 0, -9.81 },
    step = {
        integrator = "bdf2",
        dt = 0.004,
        friction_speed = 0.01,
        newton = { tolerance = 1e-4 },
        solver = { backend = "pcg-ic", tolerance = 1e-5 },
    },
    output = { frame = 0.016, fields = { "mises", "velocity", "plastic_strain" } },
    remesh = { follow = false }, -- fine as it is: only repairs
    contact = { friction = 0.5 },
    bodies = {
        body {
            name = "star",
            shape = shape.figure { limbs = table.concat(arms, "; "), blend = 0.02, h = h },
            at = { 0, 0, 0.16 },
            turn = { axis = { 0, 1, 0 }, degrees = 4 },
            material = material {
                model = "neo-hookean",
                young = 3e4,
                poisson = 0.4,
                density = 1100,
                nodal_pressure = "on",
                plastic = { yield = 300, rate = 60 },
            },
        },
    },
    obstacles = { obstacle.plane { name = "floor", friction = 0.5 } },
}
