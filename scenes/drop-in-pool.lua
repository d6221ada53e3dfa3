-- A drop falls into a pool and becomes one with it: rings run off, a crater opens.
--
-- Liquid merges where `remesh = { merge = ... }` asks for it: surfaces that have come nearer than this part of the edges
-- there get one mesh. Mass, momentum and rest volume are kept to the last digits. case=two: two drops in flight, aside
-- of each other, that become one, turn and swing.
--
--   kiln run scenes/drop-in-pool.lua -o out/pool
--   kiln render out/pool --look water --sheet 4x3 -o pool.png
--   kiln run scenes/drop-in-pool.lua --set case=two -o out/two

local two = param("case", "pool") == "two"
local radius, size = 1.5e-3, param("size", two and 0.35e-3 or 0.7e-3) -- m
local width, depth = 12e-3, 4e-3
local speed = param("speed", two and 0.15 or 0.3) -- m/s

local water = material {
    density = 998,
    viscosity = param("viscosity", 5e-3),
    liquid = liquid { surface_tension = 72e-3 },
}

local function drop(name, at, velocity)
    return body { name = name, shape = shape.ball { radius = radius, h = 0.8 * size }, at = at, velocity = velocity, material = water }
end

-- Vertices of the pool at a wall slide along it.
local function wall(point, normal, along)
    return hold { body = "pool", where = select.half_space { point = point, normal = normal }, components = along }
end

local cells, near = math.ceil(width / size), 1e-8
local bodies, holds
if two then
    bodies = { drop("left", { -1.2 * radius, -0.3 * radius, 0 }, { speed, 0, 0 }),
               drop("right", { 1.2 * radius, 0.3 * radius, 0 }, { -speed, 0, 0 }) }
else
    bodies = {
        body { name = "pool", at = { -width / 2, -width / 2, 0 }, material = water,
               shape = shape.box { lx = width, ly = width, lz = depth, nx = cells, ny = cells, nz = math.ceil(depth / size),
                                   pattern = "mirrored" } },
        drop("drop", { 0.1 * radius, 0.05 * radius, depth + 1.2 * radius }, { 0, 0, -speed }),
    }
    holds = {
        wall({ near - width / 2, 0, 0 }, { -1, 0, 0 }, "x"), wall({ width / 2 - near, 0, 0 }, { 1, 0, 0 }, "x"),
        wall({ 0, near - width / 2, 0 }, { 0, -1, 0 }, "y"), wall({ 0, width / 2 - near, 0 }, { 0, 1, 0 }, "y"),
        wall({ 0, 0, near }, { 0, 0, -1 }, "z"),
    }
end

return scene {
    name = "drop-in-pool",
    duration = param("duration", 0.012),
    gravity = { 0, 0, two and 0 or -9.81 },
    step = { integrator = "bdf2", dt = param("dt", 1e-4) },
    contact = contact { thickness = 0.08 * size, self = true },
    remesh = { merge = param("merge", 0.3) },
    output = { frame = 5e-4, fields = { "velocity" } },
    bodies = bodies,
    holds = holds,
}
