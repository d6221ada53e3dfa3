-- Contacts that have no obvious normal (after Erleben 2018): what falls meets what is held with a
-- tip, an edge or a face, exactly above it.
--
-- `case` is one of spike-spike (tip on tip), spike-wedge (tip on edge), wedge-wedge (edge on edge,
-- crossed), wedge-wedge-parallel (edge on edge, exactly along it), crack (a tip over a gap of one
-- and a half layers), hole (a tip in a hole), cliff (a block whose centre is 1 % of its length
-- before the edge of a table, with `over` = 1 beyond it), stack and stack45 (cubes on each other,
-- the second set with every other cube turned by 45 degrees).
--
--   kiln run scenes/erleben.lua -o out/erleben --set case=spike-wedge --audit
--   kiln render out/erleben -o erleben.mp4 --camera=-50,20

local case = param("case", "spike-spike")
local over = param("over", 0) -- cliff
local layer = case == "cliff" and 0.001 or 0.004

-- The edge of a table that gives way by more than 1 % of the block would decide otherwise.
local firm = material { young = case == "cliff" and 1e8 or 1e6, poisson = 0.3, density = 1000, damping_stiffness = 1e-3 }
local upside_down = { axis = { 1, 0, 0 }, degrees = 180 }

local function spike(name, at, turn)
    return body { name = name, shape = shape.cone { radius = 0.1, height = 0.25, h = 0.06 },
                  turn = turn, at = at, material = firm }
end

-- Along y, its edge above, 0.2 high; from the middle of its base.
local function wedge(name, at, degrees, down)
    local turn = { axis = { 1, 0, 0 }, degrees = 90 }
    if degrees ~= 0 then -- and then by 90 degrees about z
        turn = { axis = { 1, 1, 1 }, degrees = 120 }
    end
    local tip = down and "0,0 0.1,0.2 -0.1,0.2" or "-0.1,0 0.1,0 0,0.2"
    local half = 0.15
    return body {
        name = name,
        shape = shape.polygon { points = tip, depth = 2 * half, h = 0.08 },
        turn = turn,
        at = degrees ~= 0 and { at[1] - half, at[2], at[3] } or { at[1], at[2] + half, at[3] },
        material = firm,
    }
end

local function block(name, at, size, n)
    return body { name = name, shape = shape.box { lx = size[1], ly = size[2], lz = size[3], n = n or 3 },
                  at = at, material = firm }
end

local function stack(degrees)
    local bodies = {}
    for i = 1, 4 do
        local turned = i % 2 == 0 and degrees ~= 0
        local r = 0.1 * math.sqrt(2)
        bodies[i] = body {
            name = "cube" .. i,
            shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.2, n = 2 },
            turn = turned and { axis = { 0, 0, 1 }, degrees = degrees } or nil,
            at = turned and { 0, -r, (i - 1) * (0.2 + layer) } or { -0.1, -0.1, (i - 1) * (0.2 + layer) },
            material = firm,
        }
    end
    return bodies
end

local high = 0.25 + 2 * layer -- what is held is 0.25 or 0.2 high
local cases = {
    ["spike-spike"] = function()
        return { spike("held", { 0, 0, 0 }), spike("falls", { 0, 0, high + 0.25 }, upside_down) }
    end,
    ["spike-wedge"] = function()
        return { wedge("held", { 0, 0, 0 }, 0), spike("falls", { 0, 0, high + 0.2 }, upside_down) }
    end,
    ["wedge-wedge"] = function()
        return { wedge("held", { 0, 0, 0 }, 0), wedge("falls", { 0, 0, high - 0.05 }, 90, true) }
    end,
    ["wedge-wedge-parallel"] = function()
        return { wedge("held", { 0, 0, 0 }, 0), wedge("falls", { 0, 0, high - 0.05 }, 0, true) }
    end,
    crack = function()
        local gap = 1.5 * layer
        return {
            block("held", { -0.2 - gap / 2, -0.15, 0 }, { 0.2, 0.3, 0.2 }),
            block("beside", { gap / 2, -0.15, 0 }, { 0.2, 0.3, 0.2 }),
            spike("falls", { 0, 0, 0.2 + 2 * layer + 0.25 }, upside_down),
        }
    end,
    hole = function()
        return {
            body { name = "held",
                   shape = shape.polygon {
                       points = "-0.2,-0.2 0.2,-0.2 0.2,0.2 -0.2,0.2; -0.04,-0.04 0.04,-0.04 0.04,0.04 -0.04,0.04",
                       depth = 0.2, h = 0.1 },
                   at = { 0, 0, 0 }, material = firm },
            spike("falls", { 0, 0, 0.2 + 2 * layer + 0.25 }, upside_down),
        }
    end,
    cliff = function()
        local length = 0.4
        local centre = (over == 1 and 0.01 or -0.01) * length -- of the block, from the edge
        return {
            block("held", { -0.4, -0.15, 0 }, { 0.4, 0.3, 0.2 }),
            block("falls", { centre - length / 2, -0.1, 0.2 + layer }, { length, 0.2, 0.1 }, 2),
        }
    end,
    stack = function() return stack(0) end,
    stack45 = function() return stack(45) end,
}
assert(cases[case], "case is none of those above")

local is_stack = case == "stack" or case == "stack45"
local foot = select.half_space { point = { 0, 0, 1e-6 }, normal = { 0, 0, -1 } }
local holds = { hold { name = "foot", body = is_stack and "cube1" or "held", where = foot } }
if case == "crack" then
    holds[2] = hold { name = "other foot", body = "beside", where = foot }
end

return scene {
    name = "erleben-" .. case,
    duration = 1,
    gravity = { 0, 0, -9.81 },
    step = { integrator = "implicit-euler", dt = 0.005, newton = { tolerance = 1e-6 } },
    contact = contact { thickness = layer, friction = 0.3 },
    output = { frame = 0.02 },
    bodies = cases[case](),
    holds = holds,
    obstacles = { obstacle.plane { name = "floor", friction = 0.5 } },
}
