-- Three jellies on a plate that shakes.
--
-- The plate moves to and fro, stronger and weaker again, then stands still; the jellies stick to it
-- with their feet and go on wobbling. They are nearly incompressible, so that their pressure is
-- averaged around vertices (nodal_pressure), which keeps linear tets from locking.
--
--   kiln run scenes/jelly.lua -o out/jelly
--   kiln render out/jelly -o jelly.mp4 --camera=-75,16

local function jelly(young)
    return material {
        young = young,
        poisson = 0.45,
        density = 1000,
        damping_stiffness = 0.01,
        nodal_pressure = "on",
    }
end

local shaking = 1.2 -- s

local function shake(t)
    if t > shaking then return { 0, 0, 0 } end
    return { 0.07 * math.sin(math.pi * t / shaking) * math.sin(2 * math.pi * 2.5 * t), 0, 0 }
end

return scene {
    name = "jelly",
    duration = 2,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.01 },
    output = { frame = 0.04 },
    bodies = {
        body {
            name = "drop",
            shape = shape.cone { radius = 0.24, height = 0.6, h = 0.075 },
            at = { -0.62, 0, 0 },
            material = jelly(3e4),
        },
        body {
            name = "pudding",
            shape = shape.cylinder { radius = 0.26, height = 0.42, h = 0.1 },
            material = jelly(2e4),
        },
        body {
            name = "ring",
            shape = shape.torus { major = 0.2, minor = 0.1, h = 0.06 },
            scale = { 1, 1, 1.5 },
            at = { 0.64, 0, 0.15 },
            material = jelly(2e4),
        },
    },
    holds = {
        hold {
            name = "feet",
            where = select.half_space { point = { 0, 0, 0.04 }, normal = { 0, 0, -1 } },
            motion = motion.follow { obstacle = "plate" },
        },
    },
    obstacles = {
        obstacle.box {
            name = "plate",
            from = { -1.05, -0.42, -0.07 },
            to = { 1.05, 0.42, -0.002 },
            motion = motion.translate { shift = shake },
        },
    },
}
