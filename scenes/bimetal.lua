-- A strip of two metals in hot air: they expand unequally, and it bends; then it cools.
--
-- Timoshenko 1925: two layers of equal stiffness and thickness bend to 3/2 (a1 - a2) (T - T0) / h;
-- linear tets, four across, to 0.85 of that.
--
--   kiln run scenes/bimetal.lua -o out/bimetal
--   kiln render out/bimetal -o bimetal.mp4 --field temperature --camera=-70,20
--   kiln plot out/bimetal

local length, thickness = 0.1, param("thickness", 0.005)
local function metal(expansion)
    return material {
        young = 1.5e11, poisson = 0.3, density = 8000,
        thermal = thermal { conductivity = 60, capacity = 450, expansion = expansion },
    }
end

return scene {
    name = "bimetal",
    duration = 12,
    step = { integrator = "static", dt = 0.2 },
    heat = heat {
        temperature = 293,
        air = function(t) return t < 6 and 293 + 100 * math.min(t, 4) or 293 end,
        film = 3000,
        integrator = "sdirk2",
    },
    bodies = {
        body {
            name = "strip",
            shape = shape.box { lx = length, ly = 0.01, lz = thickness, nx = 80, ny = 8, nz = 4,
                                pattern = "mirrored" },
            material = metal(19e-6), -- brass
            regions = {
                region { where = select.half_space { point = { 0, 0, thickness / 2 }, normal = { 0, 0, -1 } },
                         material = metal(1e-6) }, -- invar
            },
        },
    },
    holds = { hold { where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } } },
    probes = { probe { name = "tip", point = { length, 0.005, thickness / 2 } } },
    output = { frame = 0.2, fields = { "mises", "temperature" } },
}
