-- Four letters of soft rubber fall on a floor: what `kiln demo` runs.
--
-- Each letter is a body of its own, a little firmer than the one before, dropped from a little higher
-- and leaning a little. Try it on the moon:
--
--   kiln run demo.lua -o moon --set 'gravity={0,0,-1.6}' --set duration=3

local letters = { "K", "I", "L", "N" }
local lean = { -3, -4, 4, -5 } -- degrees, to the back or the front
local bodies = {}

for i, letter in ipairs(letters) do
    bodies[i] = body {
        name = letter,
        shape = shape.text { text = letter, height = 1, depth = 0.3, h = 0.13 },
        turn = { axis = { 1, 0, 0 }, degrees = 90 + lean[i] },
        at = { 1.2 * (i - 2.5) - 0.4, 0.15, 0.15 + 0.2 * i },
        material = material {
            young = 2e5 * i,
            poisson = 0.4,
            density = 1000,
            damping_stiffness = 4e-3,
        },
    }
end

return scene {
    name = "demo",
    duration = 1.5,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.01, newton = { tolerance = 1e-4 } },
    output = { frame = 0.03 },
    bodies = bodies,
    obstacles = { obstacle.plane { name = "floor", friction = 0.5 } },
}
