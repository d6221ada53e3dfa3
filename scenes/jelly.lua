-- Jelly on a plate that shakes.
--
-- The plate moves to and fro for a second, growing and fading, then stands still; the jelly sticks
-- to it by friction and keeps on wobbling. Nearly incompressible, so its pressure is averaged around
-- vertices (nodal_pressure) against locking.
--
--   kiln run scenes/jelly.lua -o out/jelly
--   kiln render out/jelly -o jelly.mp4 --camera=-70,18

local function shake(t)
    if t > 1.2 then return { 0, 0, 0 } end
    local strength = math.sin(math.pi * t / 1.2)
    return { 0.12 * strength * math.sin(2 * math.pi * 2.5 * t), 0, 0 }
end

return scene {
    name = "jelly",
    duration = 2,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.01, newton = { tolerance = 1e-4 } },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "jelly",
            shape = shape.cone { radius = 0.3, height = 0.75, h = 0.1 },
            material = material {
                young = 1e4,
                poisson = 0.45,
                density = 1000,
                damping_stiffness = 0.01,
                nodal_pressure = true,
            },
        },
    },
    holds = { hold { name = "base", where = select.patch { tag = 2 }, motion = motion.follow { obstacle = "plate" } } },
    obstacles = {
        obstacle.box {
            name = "plate",
            from = { -0.55, -0.45, -0.06 },
            to = { 0.55, 0.45, 0 },
            motion = motion.translate { shift = shake },
        },
    },
}
