-- Two drops meet head on, become one, and spread to a sheet between them that thins, gets holes and leaves threads and drops.
--
-- Everything that liquid does to its topology at once: surfaces become one where they touch (`merge`), films get holes and necks
-- break (`pinch`). Mass, momentum and rest volume are kept to the last digits, energy falls in each such step. Some 400 steps;
-- `--set duration=4.2e-3` ends when the sheet has its first holes.
--
--   kiln run scenes/splash.lua -o out/splash
--   kiln render out/splash --look water --camera 60,25 --sheet 4x2 -o splash.png

local radius, size = 1.5e-3, param("size", 0.45e-3) -- m
local speed = param("speed", 1.2) -- m/s, of each
local aside = param("aside", 0.1) -- radii

local water = material {
    density = 998,
    viscosity = param("viscosity", 5e-3),
    liquid = liquid { surface_tension = 72e-3 },
}

local function drop(name, side)
    return body { name = name, shape = shape.ball { radius = radius, h = 0.8 * size }, material = water,
                  at = { 1.1 * side * radius, aside * side * radius, 0 }, velocity = { -speed * side, 0, 0 } }
end

return scene {
    name = "splash",
    duration = param("duration", 10e-3),
    step = { integrator = "bdf2", dt = param("dt", 5e-5) },
    contact = contact { thickness = 0.06 * size, self = true },
    remesh = { merge = 0.3, pinch = param("pinch", 0.9), size_min = param("finest", 0.5) * size },
    output = { frame = 1e-4 },
    bodies = { drop("left", -1), drop("right", 1) },
}
