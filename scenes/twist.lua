-- A bar is twisted by one turn and a half, let go at that end, and springs back.
--
-- The left end is held. The right end is led round the axis of the bar for two seconds, then
-- released. Material points go round with it, so that the field `displacement` is largest at the
-- rim of the free end.
--
--   kiln run scenes/twist.lua -o out/twist
--   kiln render out/twist -o twist.mp4 --edges

local turns, seconds = 1.5, 2.0

local function smooth(s) -- from 0 to 1, starting and ending at rest
    s = math.max(0, math.min(1, s))
    return s * s * (3 - 2 * s)
end

return scene {
    name = "twist",
    duration = 4,
    gravity = { 0, 0, 0 },
    step = { integrator = "bdf2", dt = 0.02 },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = 2, ly = 0.4, lz = 0.4, n = 4, nx = 20, pattern = "mirrored" },
            at = { 0, -0.2, -0.2 },
            material = material { young = 5e4, poisson = 0.4, density = 1000, damping_stiffness = 0.01 },
        },
    },
    holds = {
        hold { name = "left", where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } },
        hold {
            name = "right",
            where = select.half_space { point = { 2 - 1e-6, 0, 0 }, normal = { 1, 0, 0 } },
            motion = motion.rotate {
                axis = { 1, 0, 0 },
                angle = function(t) return 2 * math.pi * turns * smooth(t / seconds) end,
            },
            till = seconds,
        },
    },
}
