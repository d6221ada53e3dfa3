-- A pin of 16 mm is pressed into a block with cells of 5 cm, held there, and drawn out again.
--
-- A cell cannot dent by less than itself: on the mesh it begins with, the pin is felt three times too
-- stiffly, and Kiln says so. With remesh = "local" the cells under it become as fine as it is round, and
-- coarse again when it has gone. probes.csv has its force.
--
--   kiln run scenes/pin.lua -o out/pin
--   kiln render out/pin -o pin.mp4 --edges --camera=-35,25
--   kiln plot out/pin pin.force.z

local radius = param("radius", 0.008) -- m
local follow = param("follow", true)
local side, depth = 0.3, 0.07

return scene {
    duration = 0.8,
    step = { dt = 0.04, integrator = "implicit-euler" },
    contact = contact { thickness = 0.001 },
    bodies = {
        body {
            name = "block",
            shape = shape.box { lx = side, ly = side, lz = side, n = 6 },
            at = { -side / 2, -side / 2, 0 },
            material = material { model = "neo-hookean", young = 1e5, poisson = 0.3, density = 1000 },
        },
    },
    holds = { hold { where = select.half_space { normal = { 0, 0, -1 } } } },
    obstacles = {
        obstacle.capsule {
            name = "pin",
            from = { 0.02, -0.01, side + radius },
            to = { 0.02, -0.01, 2 * side },
            radius = radius,
            motion = motion.translate {
                shift = function(t)
                    local part = t < 0.4 and t / 0.4 or t < 0.5 and 1 or math.max(0, 1 - (t - 0.5) / 0.2)
                    return { 0, 0, -depth * part + (t > 0.7 and 0.3 * (t - 0.7) or 0) }
                end,
            },
        },
    },
    remesh = follow and "local" or false,
}
