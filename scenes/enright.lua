-- The Enright test on an elastic ball (Wicke et al. 2010, figure 5).
--
-- A velocity field draws a ball out into a thin curled sheet, 164 times as long in one direction as
-- it was, and after half the time back. Then the ball is let go: it is elastic, its material never
-- changed, so it is a ball again. The fine sphere that hangs in the mesh is refined while it is drawn
-- out and becomes coarse again, where it was.
--
--   kiln run scenes/enright.lua -o out/enright
--   kiln render out/enright -o enright.mp4 --edges

local period = 3
local pi, sin, cos = math.pi, math.sin, math.cos
local centre, radius = { 0.35, 0.35, 0.35 }, 0.15

return scene {
    name = "enright",
    duration = param("duration", period + 1),
    step = { integrator = "implicit-euler", dt = 0.01 },
    output = { frame = 0.1, fields = { "mises", "material" } },
    velocity_field = function(t, p)
        local sx, sy, sz = sin(pi * p.x), sin(pi * p.y), sin(pi * p.z)
        local dx, dy, dz = sin(2 * pi * p.x), sin(2 * pi * p.y), sin(2 * pi * p.z)
        local c = cos(pi * t / period)
        return { 2 * sx * sx * dy * dz * c, -dx * sy * sy * dz * c, -dx * dy * sz * sz * c }
    end,
    velocity_until = period,
    bodies = {
        body {
            name = "ball",
            shape = shape.ball { radius = radius, h = 0.055 },
            at = centre,
            surface = shape.ball { radius = 0.99 * radius, h = 0.012 },
            material = material { young = 1e5, poisson = 0.3, density = 1000, damping_mass = 10 },
        },
    },
    -- Edges of this length in the world; but none longer than size_max in the material, or one tet
    -- would have to reach through the whole ball where it is a sheet thinner than an edge.
    remesh = remesh {
        method = "local",
        deformation = param("deformation", 0.068),
        size_max = param("size_max", 0.11),
        size_min = 1e-4,
        gradation = 0,
        quality = param("quality", 0.15),
    },
}
