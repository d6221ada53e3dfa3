-- A column of water collapses when the dam that held it is gone (Martin and Moyce 1952).
--
-- The column is a = 57.15 mm wide and twice as high, and stands against a wall. Its front runs along the floor: at
-- T = t sqrt(2 g / a) it is Z = x / a from the wall, 1.47 at T = 1.22, 2.29 at 2.00, 3.00 at 2.55, 4.13 at 3.35. A slab
-- between two walls along which water slides is enough, since nothing happens across.
--
--   kiln run scenes/dam.lua -o out/dam
--   kiln render out/dam --sheet 4x2 -o dam.png

local a, n = 0.05715, param("n", 8)
local width = param("width", 0.25) * a
local unit = math.sqrt(a / (2 * 9.81))

local function wall(point, normal, along)
    return hold { where = select.half_space { point = point, normal = normal }, components = along }
end
local near = 1e-5 * a

return scene {
    name = "dam",
    duration = param("T", 3.4) * unit,
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 1e-3) },
    output = { frame = 0.2 * unit, fields = { "velocity" } },
    bodies = {
        body {
            name = "water",
            shape = shape.box { lx = a, ly = width, lz = 2 * a, nx = n, ny = math.max(1, math.floor(n * width / a + 0.5)),
                                nz = 2 * n, pattern = "mirrored" },
            material = material { density = 998, viscosity = 1e-3,
                                  liquid = liquid { surface_tension = param("tension", 0.073) } },
        },
    },
    holds = {
        wall({ near, 0, 0 }, { -1, 0, 0 }, "x"),
        wall({ 0, near, 0 }, { 0, -1, 0 }, "y"),
        wall({ 0, width - near, 0 }, { 0, 1, 0 }, "y"),
        wall({ 0, 0, near }, { 0, 0, -1 }, "z"),
    },
    probes = { probe { name = "water", body = "water" } },
}
