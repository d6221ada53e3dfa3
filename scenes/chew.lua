-- An elastic bar between two jaws of square teeth (Ferguson et al. 2023, the masticator).
--
-- The teeth come in by three quarters of a metre and go back. The mesh is judged by the energy of
-- each step: it is fine where the corners of the teeth bend the bar, and coarse again afterwards.
--   energy   split where the step's energy falls by it
--   sizes    the same bar with sizes that follow the strain (remesh = "local")
--   coarse   on the mesh it begins with
--   fine     on one of half the edge length
-- slab=true chews a slice, the plane problem of the paper.
--
--   kiln run scenes/chew.lua -o out/chew
--   kiln render out/chew -o chew.mp4 --edges --field mises --smooth --camera=-75,12

local case = param("case", "energy")
local slab = param("slab", false)
local width = slab and 0.06 or 0.5
local length, height, tooth = 4, 0.5, 0.25
local way, period = 0.76, param("period", 10)

-- From 0 to 1 at half the period and back, at rest at both ends.
local function bite(t) return 0.5 - 0.5 * math.cos(2 * math.pi * math.min(t, period) / period) end

local teeth = {}
local function jaw(places, side)
    for _, x in ipairs(places) do
        local low = side * (height / 2 + 0.135)
        teeth[#teeth + 1] = obstacle.box {
            name = (side > 0 and "upper " or "lower ") .. x,
            from = { x - tooth / 2, -width, low - tooth / 2 },
            to = { x + tooth / 2, width, low + tooth / 2 },
            friction = 0.1,
            motion = motion.translate { shift = function(t) return { 0, 0, -side * way * bite(t) } end },
        }
    end
end
jaw({ -1, 0, 1 }, 1)
jaw({ -1.5, -0.5, 0.5, 1.5 }, -1)

local n = (case == "fine") and 2 or 1
local methods = {
    energy = remesh { method = "energy", split = param("split", slab and 5e-4 or 4e-3) },
    sizes = remesh { method = "local", strain = 4, size_min = 0.05 },
    coarse = remesh { method = "none" },
    fine = remesh { method = "none" },
}

return scene {
    name = "chew-" .. case,
    duration = param("duration", period),
    step = { integrator = "implicit-euler", dt = 0.05, newton = { tolerance = 1e-5 } },
    contact = contact { thickness = 1e-3, friction = 0.1 },
    remesh = methods[case],
    output = { frame = 0.1, fields = { "mises", "contact" } },
    bodies = {
        body {
            name = "bar",
            shape = shape.box { lx = length, ly = width, lz = height, nx = 16 * n, ny = slab and 1 or 2 * n, nz = 3 * n, pattern = "mirrored" },
            at = { -length / 2, -width / 2, -height / 2 },
            material = material { model = "neo-hookean", young = 1e4, poisson = 0.4, density = 1000 },
        },
    },
    obstacles = teeth,
    holds = slab and { hold { name = "plane", where = select.all {}, components = "y" } } or {},
}
