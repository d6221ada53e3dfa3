-- A rabbit falls down a flight of stairs and softens where it hits (Bargteil et al. 2007, fig. 1).
--
-- It is firm at first. Where a blow makes it yield, flow takes its strength away (hardening < 0), until
-- nothing is left of the threshold: these parts are soft from then on and droop, the others stay hard.
--
--   kiln run scenes/stairs.lua -o out/stairs
--   kiln run scenes/stairs.lua -o out/stairs --set h=0.0067   -- 100,000 tets
--   kiln render out/stairs -o stairs.mp4 --field hardening --camera=-60,18

local h = param("h", 0.016) -- m, edges
local limbs = {
    "-0.03,0,0.07,0.068 0.03,0,0.085,0.055", -- trunk
    "0.06,0,0.165,0.048", -- head
    "-0.105,0,0.07,0.026", -- tail
}
for _, side in ipairs { -1, 1 } do
    local function limb(format, ...)
        local y = { ... }
        for i = 1, #y do y[i] = side * y[i] end
        limbs[#limbs + 1] = string.format(format, table.unpack(y))
    end
    limb("0.05,%g,0.195,0.018 0.02,%g,0.285,0.016", 0.022, 0.038) -- ears
    limb("0,%g,0.017,0.026 0.055,%g,0.014,0.02", 0.045, 0.05) -- hind legs
    limb("0.06,%g,0.06,0.021 0.085,%g,0.014,0.019", 0.03, 0.03) -- forelegs
end

local steps, run, rise = 4, 0.17, 0.12
local outline = { "-0.3,0", string.format("%g,0", 0.15 + run * steps) }
for i = 1, steps do
    local x = 0.15 + run * (steps - i)
    outline[#outline + 1] = string.format("%g,%g %g,%g", x + run, rise * i, x, rise * i)
end
outline[#outline] = string.format("%g,%g -0.3,%g", 0.15 + run, rise * steps, rise * steps)

return scene {
    name = "stairs",
    duration = 1.6,
    gravity = { 0, 0, -9.81 },
    step = {
        integrator = "bdf2",
        dt = 0.005,
        friction_speed = 0.01,
        newton = { tolerance = 1e-4 },
        solver = { backend = "pcg-ic", tolerance = 1e-5 },
    },
    output = { frame = 0.02, fields = { "mises", "velocity", "plastic_strain", "hardening" } },
    remesh = { follow = false }, -- fine as it is: only repairs
    contact = { bodies = false, friction = 0.3 },
    bodies = {
        body {
            name = "rabbit",
            shape = shape.figure { limbs = table.concat(limbs, "; "), blend = 0.025, h = h },
            at = { 0.02, 0, rise * steps + 0.08 },
            velocity = { 1.3, 0, 0 },
            spin = { 0, 6, 0 },
            material = material {
                model = "neo-hookean", -- cannot be turned inside out by an edge
                young = 6e4,
                poisson = 0.4,
                density = 1000,
                plastic = { yield = param("yield", 12000), rate = 60, law = "work", hardening = -3 },
            },
        },
    },
    obstacles = {
        obstacle.plane { name = "floor", friction = 0.9 },
        obstacle.box { name = "kerb", from = { 1.15, -0.25, 0 }, to = { 1.25, 0.25, 0.1 }, friction = 0.5 },
        obstacle.mesh {
            name = "stairs",
            shape = shape.polygon { points = table.concat(outline, " "), depth = 0.5, h = 0.1 },
            at = { 0, 0.25, 0 },
            turn = { axis = { 1, 0, 0 }, degrees = 90 },
            friction = 0.25,
        },
    },
}
