-- Blocks on an incline of 20 degrees: what is rougher than its tangent, 0.364, stays.
--
-- Every block lies on a board of its own; their frictions are 0, 0.2, 0.35, 0.38 and 0.6. The first
-- three slide with g (sin - friction cos), the others stick.
--
--   kiln run scenes/incline.lua -o out/incline --audit
--   kiln render out/incline -o incline.mp4 --camera=-60,20

local angle = math.rad(param("degrees", 20))
local frictions = { 0, 0.2, 0.35, 0.38, 0.6 }
local down, up = { math.cos(angle), 0, -math.sin(angle) }, { math.sin(angle), 0, math.cos(angle) }
local width, long, thick = 0.16, 2.4, 0.05

local function place(along, across, above)
    return { along * down[1] + above * up[1], across, along * down[3] + above * up[3] }
end

local turn = { axis = { 0, 1, 0 }, degrees = math.deg(angle) }
local wood = material { young = 2e6, poisson = 0.3, density = 700, damping_stiffness = 1e-3 }
local bodies, obstacles = {}, {}
for i, friction in ipairs(frictions) do
    local y = 0.22 * (i - 3)
    bodies[i] = body {
        name = "block" .. i,
        shape = shape.box { lx = 0.16, ly = 0.12, lz = 0.08, n = 2 },
        turn = turn,
        at = place(0.1, y - 0.06, 0.002), -- the layer of a mesh
        material = wood,
    }
    obstacles[i] = obstacle.mesh {
        name = "board" .. i,
        shape = shape.box { lx = long, ly = width, lz = thick, nx = 24, ny = 2, nz = 1 },
        turn = turn,
        at = place(0, y - width / 2, -thick),
        friction = friction,
    }
end

return scene {
    name = "incline",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.005, newton = { tolerance = 1e-6 } },
    contact = contact { thickness = 0.002 },
    output = { frame = 0.02 },
    bodies = bodies,
    obstacles = obstacles,
}
