-- A soft ball falls on a bed of a hundred spikes (Ferguson et al. 2023, figure 1).
--
-- The mesh of the ball follows the tips inside the time step: an edge is split where the step's own
-- energy falls by it, and goes again when the ball has moved on.
--   energy   refined where spikes press, judged by energy
--   coarse   the mesh it begins with: it hardly feels the tips
--   fine     the same everywhere at half the edge length
--
--   kiln run scenes/spikes.lua -o out/spikes
--   kiln render out/spikes -o spikes.mp4 --edges --camera=-60,20

local case = param("case", "energy")
local across = param("across", 10) -- spikes along each side
local apart, base, height = 0.2, 0.085, 0.4

local spikes = {}
local steel = material { name = "spike", model = "neo-hookean", young = 1e8, poisson = 0.4, density = 1100 }
for i = 0, across - 1 do
    for k = 0, across - 1 do
        spikes[#spikes + 1] = body {
            name = "spike " .. i .. " " .. k,
            shape = shape.cone { radius = base, height = height, h = 0.06 },
            at = { apart * i, apart * k, 0 },
            material = steel,
        }
    end
end

local middle = apart * (across - 1) / 2
local bodies = { body {
    name = "ball",
    shape = shape.ball { radius = 0.5, h = case == "fine" and 0.06 or 0.12 },
    at = { middle, middle, height + 0.5 + param("above", 0.1) },
    velocity = { 0, 0, -param("speed", 2) },
    material = material { name = "ball", model = "neo-hookean", young = 1e5, poisson = 0.4, density = 2000 },
} }
for _, spike in ipairs(spikes) do bodies[#bodies + 1] = spike end

return scene {
    name = "spikes-" .. case,
    duration = param("duration", 0.6),
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.01, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 1e-3, friction = 0.1 },
    remesh = remesh { method = case == "energy" and "energy" or "none", split = case == "energy" and param("split", 0.1) or nil },
    output = { frame = 0.02, fields = { "mises", "contact" } },
    bodies = bodies,
    holds = { hold { name = "ground", where = select.half_space { point = { 0, 0, 0.01 }, normal = { 0, 0, -1 } } } },
}
