-- Sheets fall over a rod and onto each other.
--
-- They are 5 mm thick and keep a clearance of 2 cm, so they hang and stack as if they were that much
-- thicker.
--
--   kiln run scenes/sheets.lua -o out/sheets --audit
--   kiln render out/sheets -o sheets.mp4 --camera=-80,10

local sheet = material { model = "neo-hookean", young = 3e4, poisson = 0.3, density = 500, viscosity = 20 }
local n = param("n", 10)

local bodies = {}
for i = 1, param("sheets", 3) do
    bodies[i] = body {
        name = "sheet" .. i,
        shape = shape.box { lx = 0.6, ly = 0.4, lz = 0.005, nx = n, ny = n // 2, nz = 1 },
        at = { -0.3 + 0.01 * i, -0.2, 0.03 * i },
        material = sheet,
        clearance = param("clearance", 0.02),
    }
end

return scene {
    duration = param("T", 1),
    gravity = { 0, 0, -9.81 },
    step = { dt = 0.01 },
    contact = contact { thickness = 0.004, friction = 0.5 },
    output = { frame = 0.04 },
    bodies = bodies,
    obstacles = {
        obstacle.capsule { from = { 0, -1, -0.06 }, to = { 0, 1, -0.06 }, radius = 0.05, friction = 0.5 },
        obstacle.plane { point = { 0, 0, -0.5 }, normal = { 0, 0, 1 }, friction = 0.5 },
    },
}
