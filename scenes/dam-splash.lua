-- The dam of scenes/dam.lua again, and what comes after: its water runs against a wall, up it, falls back on what still
-- comes, and becomes one with it.
--
-- Liquid merges where surfaces have come nearer than `merge` of the edges there, necks and films that are thinner than `pinch`
-- break. The tank is 3.2 times as long as the column was wide; a liquid twenty times as viscous as water, since cells are coarse.
--
--   kiln run scenes/dam-splash.lua -o out/dam-splash
--   kiln render out/dam-splash --look water --camera=-110,15 --sheet 4x2 -o dam-splash.png

local a, n = 0.05715, param("n", 6)
local width = param("width", 0.5) * a
local long = param("long", 3.2) * a
local unit = math.sqrt(a / (2 * 9.81)) -- s
local size = a / n
local near = 1e-5 * a

local function wall(point, normal, along)
    return hold { where = select.half_space { point = point, normal = normal }, components = along }
end

return scene {
    name = "dam-splash",
    duration = param("T", 8) * unit,
    gravity = { 0, 0, -9.81 },
    step = { integrator = param("integrator", "bdf2"), dt = param("dt", 1e-3) },
    contact = contact { thickness = 0.06 * size, self = true },
    remesh = { merge = param("merge", 0.3), pinch = param("pinch", 0.9), size_min = param("finest", 0.5) * size },
    output = { frame = 0.2 * unit },
    bodies = {
        body {
            name = "water",
            at = { 0, 0, 1e-3 * a },
            shape = shape.box { lx = a, ly = width, lz = 2 * a, nx = n, ny = math.max(1, math.floor(n * width / a + 0.5)),
                                nz = 2 * n, pattern = "mirrored" },
            material = material { density = 998, viscosity = param("viscosity", 0.02), liquid = liquid { surface_tension = 0.073 } },
        },
    },
    holds = {
        wall({ near, 0, 0 }, { -1, 0, 0 }, "x"),
        wall({ 0, near, 0 }, { 0, -1, 0 }, "y"),
        wall({ 0, width - near, 0 }, { 0, 1, 0 }, "y"),
    },
    obstacles = {
        obstacle.plane { name = "floor" },
        obstacle.plane { name = "wall", point = { long, 0, 0 }, normal = { -1, 0, 0 } },
    },
}
