-- Rain on a pool: drops of several sizes fall, become one with it, and crater and rings of each meet those of the others.
--
-- Liquid merges where surfaces have come nearer than `merge` of the edges there, necks and films that are thinner than `pinch`
-- break. Mass, momentum and rest volume are kept to the last digits in all of it.
--
--   kiln run scenes/rain.lua -o out/rain
--   kiln render out/rain --look water --camera 60,25 --sheet 4x2 -o rain.png

local size = param("size", 0.8e-3) -- m, cells of the pool
local width, depth = param("width", 14e-3), 4e-3
local speed = param("speed", 0.4) -- m/s, with which drops begin to fall
local near = 1e-8

local water = material {
    density = 998,
    viscosity = param("viscosity", 5e-3),
    liquid = liquid { surface_tension = 72e-3 },
}

-- Place in the plane, radius, and when it meets the pool: mm and ms.
local drops = {
    { -2.9, -2.4, 1.5, 1 }, { 3.1, 2.6, 1.2, 6 }, { -2.2, 3.2, 1.3, 11 }, { 2.7, -2.8, 1.4, 16 },
}

local cells = math.ceil(width / size)
local bodies = {
    body { name = "pool", at = { -width / 2, -width / 2, 0 }, material = water,
           shape = shape.box { lx = width, ly = width, lz = depth, nx = cells, ny = cells, nz = math.ceil(depth / size),
                               pattern = "mirrored" } },
}
for i = 1, math.min(#drops, param("drops", #drops)) do
    local x, y, r, t = drops[i][1] * 1e-3, drops[i][2] * 1e-3, drops[i][3] * 1e-3, drops[i][4] * 1e-3
    bodies[#bodies + 1] = body {
        name = "drop " .. i, material = water, shape = shape.ball { radius = r, h = 0.7 * size },
        at = { x, y, depth + 1.1 * r + speed * t + 0.5 * 9.81 * t * t }, velocity = { 0, 0, -speed },
    }
end

-- Vertices of the pool at a wall slide along it.
local function wall(point, normal, along)
    return hold { body = "pool", where = select.half_space { point = point, normal = normal }, components = along }
end

return scene {
    name = "rain",
    duration = param("duration", 0.03),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = param("dt", 1e-4) },
    contact = contact { thickness = 0.08 * size, self = true },
    remesh = { merge = param("merge", 0.3), pinch = param("pinch", 0.9), size_min = param("finest", 0.5) * size },
    output = { frame = 5e-4 },
    bodies = bodies,
    holds = {
        wall({ near - width / 2, 0, 0 }, { -1, 0, 0 }, "x"), wall({ width / 2 - near, 0, 0 }, { 1, 0, 0 }, "x"),
        wall({ 0, near - width / 2, 0 }, { 0, -1, 0 }, "y"), wall({ 0, width / 2 - near, 0 }, { 0, 1, 0 }, "y"),
        wall({ 0, 0, near }, { 0, 0, -1 }, "z"),
    },
}
