-- A stiff bar is twisted by a turn a second while its mesh is judged by the energy of each step (the bar-twist
-- of Ferguson, Schneider, Kaufman and Panozzo 2023, "In-Timestep Remeshing", without contact, on a box of about
-- as many tets as theirs): 1 x 6 x 1 m, one end held, the other led round the axis.
--
-- A split must gain 10 J: the paper's 1e-3 taken as J s^2, over the square of the step, with which the number of vertices is
-- of the order of the paper's (docs/energy-remeshing.md). Columns of stats.csv say what was tried, made and gained.
--
--   kiln run scenes/bar-twist-energy.lua -o out/bar
--   kiln plot out/bar -o bar.svg

local function turn(t, u)
    local c, s = math.cos(2 * math.pi * t), math.sin(2 * math.pi * t)
    return u.x * c - u.z * s, u.y, u.x * s + u.z * c
end

return scene {
    name = "bar-twist-energy",
    duration = 1,
    gravity = { 0, 0, 0 },
    step = { integrator = "implicit-euler", mass = "consistent", dt = 0.01,
             newton = { tolerance = 1e-5, length = 1.0 } },
    output = { frame = 0.02 },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = 1, ly = 6, lz = 1, nx = 3, ny = 16, nz = 3 },
            at = { -0.5, -3, -0.5 },
            material = material { model = "neo-hookean", young = 1e7, poisson = 0.4, density = 1000,
                                  nodal_pressure = "off" },
        },
    },
    holds = {
        hold { name = "still", where = select.half_space { point = { 0, -3 + 1e-6, 0 }, normal = { 0, -1, 0 } } },
        hold { name = "led", where = select.half_space { point = { 0, 3 - 1e-6, 0 }, normal = { 0, 1, 0 } },
               motion = motion.follow { place = turn } },
    },
    remesh = remesh { method = "energy", split = 10, collapse = 1e-4 },
}
