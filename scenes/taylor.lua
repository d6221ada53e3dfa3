-- Taylor's test: a copper bar flies against a wall at 227 m/s and mushrooms.
--
-- A quarter of the bar between two planes of symmetry, 32.4 mm long, 3.2 mm in radius, without
-- friction. After 80 microseconds it is 21.6 mm long and the foot has a radius of 7.2 mm
-- (validation P5). Metal flows inside each step, so 0.2 microseconds are short enough; the model
-- that keeps shape and volume apart and the averaged pressure keep the tets from locking.
--
--   kiln run scenes/taylor.lua -o out/taylor
--   kiln run scenes/taylor.lua -o out/taylor --set remesh.method=local   -- finer where it flows
--   kiln render out/taylor -o taylor.mp4 --field plastic_strain --camera=-135,10

local radius, sides = 3.2e-3, 8

local corners = { "0,0" }
for i = 0, sides do
    local angle = i / sides * math.pi / 2
    corners[#corners + 1] = ("%.12g,%.12g"):format(radius * math.cos(angle), radius * math.sin(angle))
end

local copper = material {
    model = "neo-hookean-split",
    young = 117e9,
    poisson = 0.35,
    density = 8930,
    plastic = { norm = "mises", flow = "instant", yield_stress = 400e6, hardening_modulus = 100e6 },
}

return scene {
    name = "taylor",
    duration = 80e-6,
    step = { integrator = "bdf2", dt = 2e-7, newton = { tolerance = 1e-7 } },
    output = { frame = 2e-6, fields = { "plastic_strain", "mises" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.polygon { points = table.concat(corners, " "), depth = 32.4e-3, h = 0.85e-3 },
            velocity = { 0, 0, -227 },
            material = copper,
        },
    },
    holds = {
        hold { where = select.patch { tag = 3 }, components = "y" },
        hold { where = select.patch { tag = 4 + sides }, components = "x" },
    },
    obstacles = { obstacle.plane { name = "wall" } },
}
