-- A soft figure is drawn between two rollers (after Ferguson et al. 2023).
--
-- The rollers turn towards each other and are held at their ends; friction draws the figure in. The
-- mesh is judged by the energy of each step.
--
--   kiln run scenes/rollers.lua -o out/rollers
--   kiln render out/rollers -o rollers.mp4 --edges --camera=-60,15

local case = param("case", "energy") -- or coarse
local radius, gap, turn = 0.25, 0.7, math.pi / 5

local rubber = material { name = "roller", model = "neo-hookean", young = 2e7, poisson = 0.3, density = 1000 }
local soft = material { name = "figure", model = "neo-hookean", young = 5e4, poisson = 0.3, density = 1000 }

local function roller(side)
    return body {
        name = side < 0 and "left" or "right",
        shape = shape.cylinder { radius = radius, height = 1.6, h = 0.12 },
        turn = { axis = { 1, 0, 0 }, degrees = 90 },
        at = { side * gap / 2, 0.8, 0 },
        material = rubber,
    }
end

local function spin(side)
    return hold {
        name = side < 0 and "left axle" or "right axle",
        where = select.body { name = side < 0 and "left" or "right" } &
            (select.half_space { point = { 0, -0.79, 0 }, normal = { 0, -1, 0 } } |
             select.half_space { point = { 0, 0.79, 0 }, normal = { 0, 1, 0 } }),
        motion = motion.rotate {
            axis = { 0, 1, 0 },
            centre = { side * gap / 2, 0, 0 },
            angle = function(t) return -side * turn * t end,
        },
    }
end

return scene {
    name = "rollers-" .. case,
    duration = param("duration", 4),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 2e-3, friction = 0.5 },
    remesh = remesh { method = case == "energy" and "energy" or "none", split = case == "energy" and param("split", 0.01) or nil },
    output = { frame = 0.05, fields = { "mises", "contact" } },
    bodies = {
        body {
            name = "figure",
            shape = shape.figure { h = 0.12 },
            turn = { axis = { 1, 0, 0 }, degrees = 180 },
            scale = param("scale", 0.5),
            at = { 0, 0, 1.15 },
            material = soft,
        },
        roller(-1), roller(1),
    },
    holds = { spin(-1), spin(1) },
}
