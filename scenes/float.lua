-- A soft block falls into a tank of syrup, floats, and turns over: upright a cube of half its density is not stable.
--
-- Liquid and solid push each other by their surfaces (contact), both ways. The tank's walls are holds along
-- which the liquid slides.
--
--   kiln run scenes/float.lua -o out/float
--   kiln render out/float --sheet 3x2 -o float.png

local n = param("n", 6) -- cells across half of the tank
local merge = param("merge", 0) -- thinner syrup: 0.3, where its waves close on themselves they become one

local function wall(point, normal, along)
    return hold { where = select.half_space { point = point, normal = normal }, components = along, body = "syrup" }
end

return scene {
    name = "float",
    duration = param("duration", 1.6),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 5e-3 },
    remesh = { merge = merge },
    contact = contact { bodies = true, self = merge > 0, thickness = 0.01 },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "syrup",
            shape = shape.box { lx = 1, ly = 1, lz = 0.5, nx = 2 * n, ny = 2 * n, nz = n, pattern = "mirrored" },
            material = material { density = 1000, viscosity = param("viscosity", 20), liquid = liquid {} },
        },
        body {
            name = "block",
            shape = shape.box { lx = 0.3, ly = 0.3, lz = 0.3, n = 3 },
            at = { 0.35, 0.35, 0.52 },
            material = material { density = param("density", 500), young = 1e5, poisson = 0.3 },
        },
    },
    holds = {
        wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, "x"), wall({ 1 - 1e-6, 0, 0 }, { 1, 0, 0 }, "x"),
        wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, "y"), wall({ 0, 1 - 1e-6, 0 }, { 0, 1, 0 }, "y"),
        wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "z"),
    },
    probes = { probe { name = "block", body = "block" } },
}
