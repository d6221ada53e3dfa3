-- A thread of water whose ends fly apart: it necks, pinches off on both sides and leaves a satellite.
--
-- Liquid breaks where `remesh = { pinch = ... }` asks for it: necks narrower than this part of the mean edge of the start,
-- drawn out further, open where they are narrowest, and both ends draw back. Mass, momentum and rest volume are kept to the
-- last digits, the surface falls. case=sheet: a sheet that is drawn out from its middle gets holes, and threads between them.
--
--   kiln run scenes/pinch.lua -o out/pinch
--   kiln render out/pinch --look water --camera 90,0 --sheet 2x4 -o pinch.png
--   kiln run scenes/pinch.lua --set case=sheet -o out/sheet

local sheet = param("case", "thread") == "sheet"
local n = param("n", 4) -- cells across
local length, width = 4.8e-3, 1.2e-3 -- m
local speed = param("speed", sheet and 1.2 or 0.7) -- m/s, of each end

local water = material {
    density = 998,
    viscosity = param("viscosity", 5e-3),
    liquid = liquid { surface_tension = 72e-3 },
}

local h = width / n
local lx, ly, lz = length, width, width
local function cells(l) return math.floor(l / h + 0.5) end
if sheet then lx, ly, lz = 20 * h, 20 * h, 2 * h end

local function apart(u)
    return { speed * math.max(-1, math.min(1, u[1] / 0.9e-3)), 0, 0 }
end

local function outwards(u)
    local r = math.max(math.sqrt(u[1] ^ 2 + u[2] ^ 2), 1.5e-3)
    return { speed * u[1] / r, speed * u[2] / r, 0 }
end

return scene {
    name = "pinch",
    duration = param("duration", sheet and 2.5e-3 or 8e-3),
    step = { dt = param("dt", sheet and 5e-5 or 1e-4) },
    output = { frame = sheet and 1e-4 or 2.5e-4 },
    contact = contact { thickness = 0.08 * h, self = true },
    remesh = remesh { pinch = param("pinch", sheet and 1 or 0.9), merge = sheet and 0 or 0.2, size_min = (sheet and 0.8 or 0.7) * h },
    bodies = {
        body {
            name = sheet and "sheet" or "thread",
            shape = shape.box { lx = lx, ly = ly, lz = lz, nx = cells(lx), ny = cells(ly), nz = cells(lz), pattern = "mirrored" },
            at = { -lx / 2, -ly / 2, -lz / 2 },
            material = water,
            velocity = sheet and outwards or apart,
        },
    },
}
