-- A mat falls across another one that hangs between two clamps.
--
-- Sheets of 8 mm: 3,042 bricks of six tets each. They bend by their thickness many times over,
-- wrap around each other and slide.
--
--   kiln run scenes/mats.lua -o out/mats --audit
--   kiln render out/mats -o mats.mp4 --camera=-60,20

local cells = param("cells", 39)
local foam = material { model = "neo-hookean", young = 2e4, poisson = 0.4, density = 1000 }
local function mat() return shape.box { lx = 1, ly = 1, lz = 0.008, nx = cells, ny = cells, nz = 1 } end
local function clamp(side)
    return hold {
        body = "below",
        where = select.half_space { point = { side * 0.499, 0, 0 }, normal = { side, 0, 0 } },
    }
end

return scene {
    name = "mats",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { dt = 0.025, newton = { tolerance = 1e-4 } },
    contact = contact { thickness = 1e-3, friction = param("friction", 0) },
    output = { frame = 0.025 },
    bodies = {
        body { name = "below", shape = mat(), at = { -0.5, -0.5, -0.004 }, material = foam },
        body {
            name = "above",
            shape = mat(),
            turn = { axis = { 0, 0, 1 }, degrees = 45 },
            at = { 0, -0.70710678, 0.296 },
            material = foam,
        },
    },
    holds = { clamp(-1), clamp(1) },
}
