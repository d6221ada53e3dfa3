-- A stub of wax stands on a hot plate, melts from below, sinks and runs; then the plate is cooled, and what has run
-- freezes as it lies.
--
-- Solid and melt are two materials of one matter: where it is warmer than its melting point a tet is liquid, where it is
-- colder it is solid again, and begins anew with the shape it has. The melt is thick where it is hardly warm. Heat is
-- conducted a thousand times as fast as in wax, so that a second is enough.
--
--   kiln run scenes/melt.lua -o out/melt
--   kiln run scenes/melt.lua --set n=7 -o out/melt                 # 12,000 tets
--   kiln run scenes/melt.lua --set case=ice -o out/ice             # ice in warm water
--   kiln render out/melt --field temperature --sheet 4x2 -o melt.png

local case = param("case", "wax")
local n = param("n", 5)                           -- cells in the radius
local hot, cold = param("hot", 400), 290          -- K, of the plate
local cools = param("cools", 1.2)                 -- s
local thick = param("viscosity", 20)              -- Pa s, of the melt at 340 K

local function plate(t) return t < cools and hot or cold end

local melt = material {
    name = "molten wax", density = 900, liquid = liquid { surface_tension = 0.03 },
    viscosity = function(c) return thick * math.exp((340 - math.min(c.temperature, 370)) / 15) end,
    thermal = thermal { conductivity = 300, capacity = 2200 },
}
local wax = material {
    name = "wax", density = 900, young = 1e6, poisson = 0.35, melt = melt,
    thermal = thermal { conductivity = 300, capacity = 2000, latent = 2e4, melting = 330, range = 4 },
}

local water = material {
    name = "water", density = 997, viscosity = 0.05, liquid = liquid { surface_tension = 0.073 },
    thermal = thermal { conductivity = 60, capacity = 4200 },
}
local ice = material {
    name = "ice", density = 917, young = 1e6, poisson = 0.33, melt = water,
    thermal = thermal { conductivity = 220, capacity = 2100, latent = 3.3e4, melting = 273.15, range = 0.5 },
}

local r = 0.02                                    -- m

local cases = {
    wax = {
        heat = heat { temperature = 320, film = 500, air = plate },
        bodies = { body { shape = shape.cylinder { radius = r, height = 1.6 * r, h = r / n }, material = wax, at = { 0, 0, 1e-6 } } },
        obstacles = { obstacle.plane { temperature = plate, conductance = 20000, contact_angle = 70 } },
        gravity = { 0, 0, -9.81 },
    },
    -- A cube of ice inside a tank of warm water, whose walls let nothing through.
    ice = {
        heat = heat { temperature = 300 },
        bodies = { body {
            shape = shape.box { lx = 3 * r, ly = 3 * r, lz = 3 * r, n = 2 * n }, material = water,
            temperature = function(u)
                local a = math.max(math.abs(u[1] - 1.5 * r), math.abs(u[2] - 1.5 * r), math.abs(u[3] - 1.2 * r))
                return a < 0.62 * r and 268 or 300
            end,
            regions = { region { where = select.box { from = { 0.9 * r, 0.9 * r, 0.6 * r }, to = { 2.1 * r, 2.1 * r, 1.8 * r } }, material = ice } },
        } },
        holds = {
            hold { where = select.box { to = { 1e-9, 1, 1 }, from = { -1, -1, -1 } }, components = "x" },
            hold { where = select.box { from = { 3 * r - 1e-9, -1, -1 }, to = { 1, 1, 1 } }, components = "x" },
            hold { where = select.box { to = { 1, 1e-9, 1 }, from = { -1, -1, -1 } }, components = "y" },
            hold { where = select.box { from = { -1, 3 * r - 1e-9, -1 }, to = { 1, 1, 1 } }, components = "y" },
            hold { where = select.box { to = { 1, 1, 1e-9 }, from = { -1, -1, -1 } }, components = "z" },
        },
        gravity = { 0, 0, -9.81 },
    },
}

local s = cases[case]
s.name = "melt-" .. case
s.duration = param("duration", case == "wax" and 2.5 or 1)
s.step = { integrator = param("integrator", "implicit-euler"), dt = param("dt", 0.01) }
s.output = { frame = param("frame", 0.05), checkpoint = 0.5 }
return scene(s)
