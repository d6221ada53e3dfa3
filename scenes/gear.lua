-- A rubber gear in a press, which then rolls it away.
--
-- The press comes down by 7 cm in 0.4 s, stands for a tenth, and goes sideways. Its force over its
-- travel is in probes.csv (press.place, press.force); `kiln plot` draws it.
--
--   kiln run scenes/gear.lua -o out/gear --audit
--   kiln render out/gear -o gear.mp4 --field mises --smooth --camera=-85,12
--   kiln plot out/gear press.force.z --x press.place.z -o press.svg

local teeth, inner, outer, bore = 12, 0.08, 0.10, 0.03
local outline, hole = {}, {}

local function point(radius, angle)
    return ("%.6f,%.6f"):format(radius * math.cos(angle), radius * math.sin(angle))
end
for tooth = 0, teeth - 1 do
    for _, corner in ipairs { { 0, inner }, { 0.3, inner }, { 0.4, outer }, { 0.8, outer } } do
        outline[#outline + 1] = point(corner[2], 2 * math.pi * (tooth + corner[1]) / teeth)
    end
end
for i = 0, 15 do hole[i + 1] = point(bore, -2 * math.pi * i / 16) end

return scene {
    name = "gear",
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "bdf2", dt = 0.01 },
    contact = contact { friction = 0.5 },
    output = { frame = 0.02, fields = { "mises", "contact", "contact_pressure" } },
    bodies = {
        body {
            name = "gear",
            shape = shape.polygon {
                points = table.concat(outline, " ") .. "; " .. table.concat(hole, " "),
                depth = 0.04,
                h = 0.012,
            },
            turn = { axis = { 1, 0, 0 }, degrees = 90 },
            at = { 0, 0.02, 0.105 },
            material = material { young = 1e6, poisson = 0.47, density = 1100, damping_stiffness = 1e-3 },
        },
    },
    obstacles = {
        obstacle.plane { friction = 0.6 },
        obstacle.cylinder {
            name = "press",
            from = { 0, -0.1, 0.26 },
            to = { 0, 0.1, 0.26 },
            radius = 0.05,
            friction = 0.6,
            motion = motion.translate {
                shift = function(t)
                    return 0.3 * math.max(0, t - 0.5), 0, -0.07 * math.min(t / 0.4, 1)
                end,
            },
        },
    },
}
