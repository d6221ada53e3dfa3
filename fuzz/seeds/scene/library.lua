local t = { 3, 1, 2, a = 1, [2.5] = 'x' }
table.sort(t) table.insert(t, 4) table.remove(t, 1)
for k, v in pairs(t) do print(k, v) end
for i, v in ipairs(t) do t[i] = string.format('%5.2f %s %d', v, 'x', i) end
local s = table.concat(t, ','):upper():rep(3, '-'):sub(2, -2):reverse()
local r = math.random(1, 10) + math.floor(2.5) + #s + select('#', table.unpack(t))
assert(tonumber('0x10') == 16 and type(r) == 'number')
local w = select.all {} & ~select.surface {} | select.sphere { radius = 1 } - select.corner()
return scene { duration = r, bodies = { body { shape = shape.box { n = 1 }, material = material { young = 1 } } }, holds = { hold { where = w } } }
