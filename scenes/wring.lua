-- A square bar wrung until it folds up on itself.
--
-- One end stands, the other turns once a second. After two turns the bar buckles into loops that
-- press against each other; nothing goes through anything.
--
--   kiln run scenes/wring.lua -o out/wring --audit
--   kiln render out/wring -o wring.mp4 --field mises --smooth --camera=-70,15

local turns = param("turns", 4)
local rubber = material { model = "neo-hookean", young = 1e6, poisson = 0.4, density = 1000 }

return scene {
    name = "wring",
    duration = turns,
    step = { dt = 0.01, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 2e-3 },
    output = { frame = 0.05, fields = { "mises", "contact" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = 1, ly = 0.1, lz = 0.1, nx = 40, ny = 4, nz = 4 },
            material = rubber,
        },
    },
    holds = {
        hold { name = "stands", where = select.half_space { point = { 0.01, 0, 0 }, normal = { -1, 0, 0 } } },
        hold {
            name = "turns",
            where = select.half_space { point = { 0.99, 0, 0 }, normal = { 1, 0, 0 } },
            motion = motion.rotate {
                axis = { 1, 0, 0 },
                centre = { 1, 0.05, 0.05 },
                angle = function(t) return 2 * math.pi * t end,
            },
        },
    },
}
