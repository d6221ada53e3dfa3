-- A rabbit falls on a metal bar and hardens (Bargteil et al. 2007, fig. 3).
--
-- At first it flows easily, and the bar leaves its mark. What has been under stress hardens: after a
-- little flow the rabbit is only elastic, bounces off and jiggles.
--
--   kiln run scenes/hardening.lua -o out/hardening
--   kiln run scenes/hardening.lua -o out/hardening --set h=0.0067   -- 100,000 tets
--   kiln render out/hardening -o hardening.mp4 --field plastic_strain --camera=-75,12

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

return scene {
    name = "hardening",
    duration = 1.6,
    gravity = { 0, 0, -9.81 },
    step = {
        integrator = "bdf2",
        dt = 0.004,
        friction_speed = 0.01,
        newton = { tolerance = 1e-4 },
        solver = { backend = "pcg-ic", tolerance = 1e-5 },
    },
    output = { frame = 0.016, fields = { "mises", "velocity", "plastic_strain", "hardening" } },
    remesh = { follow = false }, -- fine as it is: only repairs
    contact = { bodies = false, friction = 0.3 },
    bodies = {
        body {
            name = "rabbit",
            shape = shape.figure { limbs = table.concat(limbs, "; "), blend = 0.025, h = h },
            at = { -0.012, 0, 0.4 },
            material = material {
                model = "neo-hookean", -- cannot be turned inside out by the bar
                young = 5e4,
                poisson = 0.4,
                density = 1000,
                plastic = { yield = 500, rate = 60, law = "stress", hardening = param("hardening", 3) },
            },
        },
    },
    obstacles = {
        obstacle.plane { name = "floor", friction = 0.6 },
        obstacle.cylinder {
            name = "bar",
            from = { 0, -0.3, 0.2 },
            to = { 0, 0.3, 0.2 },
            radius = 0.022,
            friction = 0.6,
        },
    },
}
