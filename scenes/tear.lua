-- A strip of dough is pulled apart by its wide ends: it thins in the middle, and tears there.
--
-- `tear = tear { stress = ... }` lets liquid tear where its surface is hollow and it is pulled by more than that (viscous stress
-- and pressure, of smoothed velocities); the tear goes across the pull, as far as that and what is handed on (`carry`) are enough.
--
--   kiln run scenes/tear.lua -o out/tear
--   kiln render out/tear --look clay --camera 20,25 --sheet 2x4 -o tear.png

local h = param("h", 2e-3) -- m, edges
local half, neck, wide, depth = 14e-3, 3e-3, 6e-3, 5e-3 -- m
local pull = param("pull", 1.2) -- m/s^2, of each end

local dough = material {
    density = 1200,
    viscosity = param("viscosity", 100),
    liquid = liquid { surface_tension = 0.05 },
}

-- Half of the width at y: narrow to 4 mm from the middle, wide from 10 mm on.
local function width(y)
    local s = math.max(0, math.min(1, (math.abs(y) - 4e-3) / 6e-3))
    return neck + (wide - neck) * s * s * (3 - 2 * s)
end

local right, left = {}, {}
for _, y in ipairs { -half, -10e-3, -8.2e-3, -6.5e-3, -5e-3, -4e-3, 4e-3, 5e-3, 6.5e-3, 8.2e-3, 10e-3, half } do
    right[#right + 1] = string.format("%.9g,%.9g", width(y), y)
    table.insert(left, 1, string.format("%.9g,%.9g", -width(y), y))
end
local outline = table.concat(right, " ") .. " " .. table.concat(left, " ")

local function led(side)
    return hold {
        where = select.half_space { point = { 0, side * (half - 1e-6), 0 }, normal = { 0, side, 0 } },
        motion = motion.translate { shift = function(t) return { 0, side * 0.5 * pull * t ^ 2, 0 } end },
    }
end

return scene {
    name = "tear",
    duration = param("duration", 0.15),
    step = { dt = param("dt", 2.5e-3), integrator = param("by", "implicit-euler") },
    output = { frame = 0.01 },
    tear = tear { stress = param("stress", 2500) },
    bodies = {
        body {
            name = "dough",
            shape = shape.polygon { points = outline, depth = depth, h = h },
            at = { 0, 0, -depth / 2 },
            material = dough,
        },
    },
    holds = { led(-1), led(1) },
}
