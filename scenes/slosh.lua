-- Water in a tank that slides along its walls: begins level, with the velocities of its slowest wave.
--
-- The wave of a tank 1 m long and 0.5 m deep takes 1.18 s to and fro (omega^2 = g k tanh k H). With size=0.1 it is a
-- high one, whose crest is 0.12 m up the wall.
--
--   kiln run scenes/slosh.lua -o out/slosh
--   kiln plot out/slosh

local n, size = param("n", 12), param("size", 0.03)
local length, depth, width = 1, 0.5, 0.25
local k = math.pi / length
local function sinh(a) return (math.exp(a) - math.exp(-a)) / 2 end
local function cosh(a) return (math.exp(a) + math.exp(-a)) / 2 end
local omega = math.sqrt(9.81 * k * sinh(k * depth) / cosh(k * depth))

local function wall(point, normal, along)
    return hold { where = select.half_space { point = point, normal = normal }, components = along }
end

return scene {
    name = "slosh",
    duration = 2.4,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.01 },
    output = { frame = 0.05, fields = { "velocity" } },
    bodies = {
        body {
            name = "water",
            shape = shape.box { lx = length, ly = width, lz = depth, nx = n, ny = math.max(1, n // 4), nz = n // 2,
                                pattern = "mirrored" },
            material = material { density = 1000, viscosity = 1e-3, liquid = liquid { pressure = param("pressure", "stabilised") } },
            velocity = function(u)
                local v = size * omega / sinh(k * depth)
                return { -v * math.sin(k * u[1]) * cosh(k * u[3]), 0, v * math.cos(k * u[1]) * sinh(k * u[3]) }
            end,
        },
    },
    holds = {
        wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, "x"), wall({ length - 1e-6, 0, 0 }, { 1, 0, 0 }, "x"),
        wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, "y"), wall({ 0, width - 1e-6, 0 }, { 0, 1, 0 }, "y"),
        wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "z"),
    },
}
